/**
 * The contract between the page (`web/`) and the process (`src/`). Both sides compile against this file, and it imports
 * nothing. README.md in this package says how the page is run and what it may rely on.
 *
 * Base: the page is at `…/console/`, the routes below are at `…/console/api/`. Requests and answers are JSON. Every route
 * but `POST enter` needs the header `Isthmus-Key`. A failure has an `ApiFailure` as its body and one of the statuses 400,
 * 401, 403, 404, 409, 413, 415, 429, 500, 503. Bodies have at most 4 MiB.
 *
 * Two words for places: the `client` side is between a client and a bridge, the `upstream` side is between us and a server.
 * A frame goes `to-server` or `to-client`, on both sides.
 */

/** Raised when an older page could not understand the process any more. */
export type ContractVersion = 1;

/** A name of a header on every request but `POST enter`. */
export type KeyHeader = 'isthmus-key';

/** `inspect` is about one server, or about a file of frames (`readOnly`). `gateway` is about a running `isthmus serve`. */
export type Face = 'inspect' | 'gateway';

/**
 * What a key may do. `look`: see states, calls and rows. `act`: send calls, answer questions, cancel, restart. `record`: see
 * and keep payloads of the clients of a gateway. A person who inspects a server has all three.
 */
export type AccessLevel = 'look' | 'act' | 'record';

/** JSON as it was typed. It is sent as it is: `1.0`, `1e400` and repeated keys stay what they are. */
export type JsonText = string;

/** Milliseconds since 1970. */
export type EpochMs = number;

/** Milliseconds since `Hello.began`, with one decimal. */
export type Offset = number;

/** The number of a frame. It rises by one from 1 and is never used twice. */
export type Seq = number;

export type EraName = 'legacy' | 'modern';

// ---------------------------------------------------------------------------------------------------------- routes

/** One route: what it takes in its query and its body, and what it answers. `void`: nothing (204). */
export interface Route<Query, Body, Answer> {
  readonly query: Query;
  readonly body: Body;
  readonly answer: Answer;
}

/** All routes. `:name` is one segment of the path, percent-encoded. `server` is needed in a gateway, and refused elsewhere. */
export interface Routes {
  /** A link works once, within 60 s. The key lives for 12 h, or for 1 h without use. */
  'POST enter': Route<None, EnterRequest, Entered>;
  /** Ends the key. */
  'POST leave': Route<None, None, void>;
  'GET hello': Route<None, None, Hello>;
  /** Answers with an event stream: `FeedEvents`. */
  'POST feed': Route<None, FeedRequest, void>;

  'GET connections': Route<None, None, readonly ConnectionView[]>;
  /** Inspect: how the server is talked to. */
  'GET connection': Route<None, None, ConnectionSettings>;
  /** Inspect: connects again. Open calls fail first. Answers when it is connected, or with what went wrong. */
  'PUT connection': Route<None, ConnectionSettings, readonly ConnectionView[]>;
  /** Inspect: hangs up. */
  'DELETE connection': Route<None, None, void>;

  'GET lists/:what': Route<ListQuery, None, ListPage>;
  /** Begins a call, and answers 202 before it is over. */
  'POST calls': Route<None, CallRequest | BytesRequest, Begun>;
  /** The newest first. */
  'GET calls': Route<CallsQuery, None, CallsPage>;
  'GET calls/:id': Route<None, None, CallDetail>;
  /** Cancels it. 409 when it is over. */
  'DELETE calls/:id': Route<None, None, void>;
  /** The bytes of the content block with this index, always as `application/octet-stream` and an attachment. */
  'GET calls/:id/content/:index': Route<None, None, Bytes>;
  /** Both sides of one call. */
  'GET calls/:id/lens': Route<None, None, Lens>;
  'POST complete': Route<None, CompleteRequest, Completion>;

  'GET questions': Route<None, None, readonly QuestionView[]>;
  /** 409 when the question is gone. */
  'POST questions/:id': Route<None, QuestionAnswer, void>;

  'GET listens': Route<None, None, readonly ListenView[]>;
  'POST listens': Route<None, ListenRequest, ListenView>;
  'DELETE listens/:id': Route<None, None, void>;
  /** Inspect. */
  'PUT log-level': Route<None, { readonly level: LogLevelName }, LogLevelSet>;

  'GET frames': Route<FramesQuery, None, FramesPage>;
  'GET frames/:seq': Route<None, None, FrameView>;
  /** With `dry` the answer is what would be replaced. Without it, the answer is the file (`application/x-ndjson`). */
  'POST traces': Route<None, TraceRequest, TracePreview | Bytes>;
  'POST snippets': Route<None, SnippetRequest, Snippet>;
  'GET logs': Route<LogsQuery, None, readonly LogRow[]>;
  'GET timing': Route<ServerQuery, None, readonly TimingRow[]>;

  /** Inspect: what can be checked, and the runs of this session. */
  'GET checks': Route<None, None, CheckCatalogue>;
  'POST checks': Route<None, CheckRequest, { readonly check: number }>;
  'GET checks/:id': Route<None, None, CheckRun>;
  /** Stops it. The findings until then are kept. */
  'DELETE checks/:id': Route<None, None, void>;

  'GET status': Route<None, None, StatusView>;
  'GET servers/:name': Route<None, None, ServerDetail>;
  'POST servers/:name/restart': Route<None, None, void>;
  'POST servers/:name/stop': Route<None, None, void>;
  'POST servers/:name/start': Route<None, None, void>;
  'POST reload': Route<None, None, Reloaded>;
  'GET series': Route<SeriesQuery, None, SeriesView>;
  'GET callers': Route<None, None, readonly CallerRow[]>;
  'GET sessions': Route<None, None, readonly SessionRow[]>;
  'DELETE sessions/:id': Route<None, None, void>;
  'GET settings': Route<None, None, SettingsView>;
  'GET recordings': Route<None, None, readonly RecordingView[]>;
  'POST recordings': Route<None, RecordingRequest, RecordingView>;
  /** Ends it. Its frames stay until the next one begins. */
  'DELETE recordings/:id': Route<None, None, void>;
}

export type RouteName = keyof Routes;

/** No query, or no body. */
export type None = undefined;

/** A body that is not JSON. */
export interface Bytes {
  readonly bytes: Uint8Array;
  readonly type: string;
  /** The name that a browser should save it under. */
  readonly file: string;
}

/** The body of every failure. */
export interface ApiFailure {
  readonly error: {
    /** A word: `INVALID_OPTION`, `NOT_ALLOWED`, `LINK_USED`, `GONE`, `TIMED_OUT`, `CHILD_EXITED` … */
    readonly code: string;
    /** What failed, and on what. */
    readonly message: string;
    readonly evidence?: readonly string[];
    /** What to do next. */
    readonly hint?: string;
  };
}

// ------------------------------------------------------------------------------------------------------------ access

/** Exactly one of them. The link is the fragment of the address without `#enter=`. */
export interface EnterRequest {
  readonly link?: string;
  readonly apiKey?: string;
  readonly jwt?: string;
}

export interface Entered {
  readonly key: string;
  readonly who: string;
  readonly levels: readonly AccessLevel[];
  readonly until: EpochMs;
}

export interface Hello {
  readonly contract: ContractVersion;
  readonly face: Face;
  /** Of isthmus. */
  readonly version: string;
  readonly who: string;
  readonly levels: readonly AccessLevel[];
  readonly now: EpochMs;
  /** What the offsets of rows count from. */
  readonly began: EpochMs;
  /** How much the process keeps: the bounds, not the current fill. */
  readonly ring: { readonly frames: number; readonly bytes: number };
  readonly features: readonly Feature[];
  /** Inspect: the server of the command line or of the file. */
  readonly target?: TargetView;
  /** A file of frames is shown. Nothing can be sent. */
  readonly readOnly: boolean;
}

/** What this process can do. A page hides what is not in the list. */
export type Feature =
  | 'lens'
  | 'check'
  | 'record'
  | 'sessions'
  | 'reload'
  | 'exact-bytes'
  /** The names of a configuration file can be chosen from. */
  | 'choose';

export interface TargetView {
  /** The command line, the address, or the name in the file. */
  readonly label: string;
  readonly kind: 'command' | 'url' | 'socket' | 'trace';
  /** The names of the configuration file, where one of them may be chosen. */
  readonly names?: readonly string[];
  /** Of a trace: the file, and when it was written. */
  readonly file?: { readonly name: string; readonly savedAt: EpochMs; readonly redacted: boolean };
}

// ------------------------------------------------------------------------------------------------------------ feed

export type Topic =
  | 'rows'
  | 'connections'
  | 'calls'
  | 'questions'
  | 'listens'
  | 'logs'
  | 'status'
  | 'series'
  | 'checks'
  | 'recordings';

export interface FeedRequest {
  readonly topics: readonly Topic[];
  /** Rows after this frame. 0: all that the ring has. Absent: only those that come. */
  readonly after?: Seq;
  /** Log lines after this number. 0: all that are kept. Absent: only those that come. */
  readonly afterLog?: number;
}

/**
 * The events, by name; the data is one line of JSON. Every topic but `rows`, `logs` and `series` begins with the present
 * state: all connections, the calls that are not over and the last 200 that are, the open questions, the open
 * subscriptions, the status, the runs of checks, the recordings. Then come changes. A comment comes every 15 s.
 *
 * When more than 1 MiB waits for a slow reader, rows are left out and one `gap` says which; the ring has them. Of more than
 * 1,000 log lines a second the newest come, and `LogRow.missed` says how many were left out. All other
 * events are kept up to 8 MiB; beyond that the stream ends with `bye`.
 */
export interface FeedEvents {
  /** The first event. `last`: the newest frame. */
  readonly begin: { readonly now: EpochMs; readonly first: Seq; readonly last: Seq };
  /** At most 2,000 rows, at most every 50 ms. Names come before the first row that uses them. */
  readonly rows: RowsEvent;
  /** These rows were left out, or the ring has lost them (`lost`). */
  readonly gap: { readonly from: Seq; readonly to: Seq; readonly lost: boolean };
  readonly connection: ConnectionView;
  readonly call: CallRow;
  readonly question: QuestionView;
  /** A question was answered, or is not wanted any more. */
  readonly 'question-over': { readonly id: number; readonly why: 'answered' | 'withdrawn' | 'ended' };
  readonly listen: ListenView;
  readonly log: LogRow;
  readonly status: StatusView;
  readonly series: SeriesPoint;
  readonly check: CheckProgress;
  readonly recording: RecordingView;
  /** The stream ends. `ended`: the process ends. `again`: ask again with `after`. `key`: enter again. */
  readonly bye: { readonly why: 'ended' | 'again' | 'key'; readonly message: string };
}

export interface RowsEvent {
  readonly names: readonly (readonly [number, string])[];
  readonly rows: readonly FrameRow[];
}

/** One frame in a list, about 60 bytes. `Row[n]`, see `RowField`. */
export type FrameRow = readonly [
  seq: Seq,
  at: Offset,
  connection: number,
  /** 0: to the server. 1: to the client. */
  direction: 0 | 1,
  kind: RowKind,
  /** The method; for an answer, that of its request. An index into the names; 0 is the empty name. */
  method: number,
  /** The tool, prompt or URI; of a line that is not a message, how it begins. An index into the names. */
  about: number,
  id: string | number | null,
  /** 0: it belongs to no call. */
  call: number,
  bytes: number,
  /** Of an answer: the milliseconds since its request, with one decimal. Otherwise -1. */
  took: number,
  /** A sum of `RowFlag`s. */
  flags: number,
];

/** 0 request, 1 result, 2 error, 3 notification, 4 HTTP, 5 stderr, 6 not a message, 7 process, 8 note, 9 batch. */
export type RowKind = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;

/** 1: it failed (an error, `isError`, a bad HTTP status). 2: its text is cut. 4: redacted. 8: sent by hand as bytes. */
export type RowFlag = 1 | 2 | 4 | 8;

/** The kinds of rows by their number. */
export type FrameKind =
  | 'request'
  | 'result'
  | 'error'
  | 'notification'
  | 'http'
  | 'stderr'
  | 'noise'
  | 'process'
  | 'note'
  | 'batch';

// ---------------------------------------------------------------------------------------------------------- frames

export interface FramesQuery {
  readonly after?: Seq;
  readonly before?: Seq;
  /** At most 2,000, which is the default. */
  readonly limit?: number;
  readonly connection?: number;
  readonly call?: number;
  readonly kind?: FrameKind;
  readonly method?: string;
  readonly direction?: 'to-server' | 'to-client';
  /** Searches the bodies, without regard to case. The process looks for at most 50 ms: see `FramesPage.searched`. */
  readonly find?: string;
}

export interface FramesPage extends RowsEvent {
  /** What the ring holds. `first` is 0 when it is empty. */
  readonly first: Seq;
  readonly last: Seq;
  /** Up to which frame was looked. Less than `last`, or `before`: ask again with `after` set to it. */
  readonly searched: Seq;
}

export interface FrameView {
  readonly seq: Seq;
  readonly at: EpochMs;
  readonly connection: number;
  readonly direction: 'to-server' | 'to-client';
  readonly kind: FrameKind;
  readonly method?: string;
  readonly about?: string;
  readonly id?: string | number;
  readonly bytes: number;
  /** As it was on the wire. Bytes that are not UTF-8 are shown as U+FFFD here, and `base64` has them. */
  readonly text: string;
  readonly base64?: string;
  /** How many bytes were left out at the end. */
  readonly cut?: number;
  readonly http?: HttpFacts;
  readonly process?: ProcessFacts;
  /** Why a line is not a message. */
  readonly problem?: string;
  /** Of a message to the client: what does not fit the schema of its revision. Absent: it was not judged. */
  readonly schema?: readonly string[];
  readonly call?: number;
  /** Of an answer: its request. */
  readonly answers?: Seq;
  /** Of a request: its answer, if there is one yet. */
  readonly answeredBy?: Seq;
  /** The frames of the same call on the other side of a bridge that this one became, or came from. */
  readonly other?: readonly Seq[];
  readonly redacted: boolean;
}

/** Names and values in the order of the wire. The values of headers that carry credentials are never here. */
export interface HttpFacts {
  readonly method?: string;
  readonly path?: string;
  readonly status?: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The event id, where the message came on a stream. */
  readonly event?: string;
}

export interface ProcessFacts {
  readonly what: 'start' | 'exit' | 'connect' | 'lost' | 'closed';
  readonly pid?: number;
  readonly code?: number | null;
  readonly signal?: string | null;
}

// ------------------------------------------------------------------------------------------------------ connections

export interface ConnectionSettings {
  readonly mode: 'auto' | 'modern' | 'legacy' | (string & {});
  /** What the server may ask for. The declared capabilities follow from it. */
  readonly asks: Asks;
  readonly roots: readonly RootFolder[];
  /** One of `TargetView.names`. */
  readonly name?: string;
}

export interface Asks {
  readonly forms: boolean;
  readonly urls: boolean;
  readonly sampling: boolean;
  readonly roots: boolean;
}

export interface RootFolder {
  readonly uri: string;
  readonly name?: string;
}

/** One connection, also after its end. */
export interface ConnectionView {
  readonly id: number;
  readonly side: 'client' | 'upstream';
  /** The name of the server in a gateway. */
  readonly server?: string;
  readonly state: 'connecting' | 'open' | 'ended';
  readonly label: string;
  readonly transport: 'stdio' | 'http' | 'unix' | 'tcp' | 'memory';
  readonly era?: EraName;
  readonly revision?: string;
  readonly pid?: number;
  /** The number of the start of the process. */
  readonly generation?: number;
  /** Who the client is, where that is authenticated. */
  readonly principal?: string;
  /** The name that a client gives itself. */
  readonly client?: string;
  readonly began: EpochMs;
  readonly lastAnswer?: EpochMs;
  readonly ended?: { readonly at: EpochMs; readonly why: string };
  /** The first and the last frame so far. 0: none. */
  readonly frames: readonly [first: Seq, last: Seq];
  readonly verdict?: VerdictView;
  readonly serverInfo?: ImplementationView;
  readonly capabilities?: Readonly<Record<string, unknown>>;
  readonly instructions?: string;
  readonly warnings: readonly Warning[];
  /** Why it could not connect, or was lost. */
  readonly problem?: ConnectionProblem;
  /** Made for `CallRequest.lens`: its server is a bridge of this process. */
  readonly lens: boolean;
}

export interface ImplementationView {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly websiteUrl?: string;
}

/** How the era was found. */
export interface VerdictView {
  readonly era: EraName;
  readonly revision: string;
  /** One sentence. */
  readonly why: string;
  /** What each step brought, with the frames that show it. */
  readonly steps: readonly { readonly say: string; readonly frames: readonly Seq[] }[];
  readonly supported?: readonly string[];
  /** `mode`: it was required. `cache`: it was known from an earlier run. */
  readonly source: 'probe' | 'cache' | 'mode';
  readonly ms: number;
}

/** What is odd about a server that works. The codes are those of `isthmus probe`. */
export interface Warning {
  readonly code: string;
  readonly message: string;
}

/** Why it does not connect. `code` is that of `isthmus doctor`. */
export interface ConnectionProblem {
  readonly message: string;
  readonly likely: readonly { readonly code: string; readonly message: string; readonly advice: string }[];
  readonly evidence: readonly string[];
  /** Its last lines. */
  readonly stderr: readonly string[];
}

// ------------------------------------------------------------------------------------------------------------ lists

export interface ServerQuery {
  readonly server?: string;
}

/** `:what` is `tools`, `resources`, `templates` or `prompts`. Without `cursor`, all pages are read, up to 10,000 items. */
export interface ListQuery extends ServerQuery {
  readonly cursor?: string;
  /** `true`: does not take what is cached. */
  readonly fresh?: boolean;
}

export interface ListPage {
  /** As the server sent them. */
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly nextCursor?: string;
  /** How long the list may be kept, where the server says so. */
  readonly ttlMs?: number;
  readonly cacheScope?: string;
  readonly frames: readonly Seq[];
}

// ------------------------------------------------------------------------------------------------------------ calls

export interface CallRequest {
  readonly method: string;
  readonly params: JsonText;
  readonly server?: string;
  /** Default 60,000. */
  readonly timeoutMs?: number;
  /** Progress renews the timeout, up to this. Default one hour. */
  readonly maxTimeoutMs?: number;
  /** The server is asked for logs of this call. */
  readonly logLevel?: LogLevelName;
  /** Makes the call with a client of the other era, through a bridge. */
  readonly lens?: boolean;
}

/** Inspect: sends exactly these bytes on the connection to the server, and waits for nothing. */
export interface BytesRequest {
  readonly bytes: string;
}

export interface Begun {
  /** 0 for bytes. */
  readonly call: number;
}

export interface CallsQuery extends ServerQuery {
  readonly state?: 'open' | 'done';
  readonly tool?: string;
  readonly caller?: string;
  readonly outcome?: OutcomeName;
  /** Calls before this one. */
  readonly before?: number;
  /** At most 500. Default 100. */
  readonly limit?: number;
}

export interface CallsPage {
  readonly calls: readonly CallRow[];
  /** There are older ones. */
  readonly more: boolean;
}

export type OutcomeName = 'ok' | 'tool_error' | 'error' | 'cancelled' | 'input_required';

export interface CallRow {
  readonly id: number;
  readonly server?: string;
  readonly method: string;
  readonly tool?: string;
  readonly prompt?: string;
  readonly uri?: string;
  readonly client?: {
    readonly era: EraName;
    readonly revision: string;
    readonly principal?: string;
    readonly name?: string;
  };
  readonly upstream?: {
    readonly era: EraName;
    /** Empty where only the era is known. */
    readonly revision: string;
    readonly pid?: number;
    readonly generation?: number;
  };
  /** `waiting`: for a free place. `asking`: for an answer to a question. */
  readonly state: 'waiting' | 'running' | 'asking' | 'done';
  /** The place in the line, from 1, while `waiting`. */
  readonly place?: number;
  readonly began: EpochMs;
  /** How long it took. Absent until it is over. */
  readonly ms?: number;
  readonly outcome?: OutcomeName;
  /** `tool_error`, `-32602`, `TIMED_OUT` … */
  readonly errorType?: string;
  readonly code?: number;
  readonly message?: string;
  /** Of an error of ours: whether the request may have reached the server. */
  readonly sent?: 'no' | 'maybe';
  readonly progress?: ProgressView;
  readonly lens?: boolean;
  /** The page made it, not a client of the gateway. */
  readonly own: boolean;
  readonly replica?: string;
}

export interface ProgressView {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export interface CallDetail extends CallRow {
  /** As it was typed, or as it came. Payloads of clients of a gateway need `record`. */
  readonly params?: JsonText;
  readonly progressed: readonly (ProgressView & { readonly at: EpochMs })[];
  readonly logs: readonly LogRow[];
  readonly questions: readonly AnsweredQuestion[];
  readonly frames: readonly Seq[];
  /** The result as it came. Over 1 MiB its beginning; `resultBytes` is the whole length. */
  readonly result?: JsonText;
  readonly resultBytes?: number;
  readonly error?: { readonly code: number | string; readonly message: string; readonly data?: unknown };
  /** Whether `structuredContent` fits the `outputSchema` of the tool. */
  readonly structured?: { readonly matches: boolean; readonly problem?: string };
}

/** What is different between the two sides of a call, in the order of time. */
export interface Lens {
  readonly call: number;
  /** Undefined where there is only one side. */
  readonly client?: { readonly era: EraName; readonly revision: string; readonly connection: number };
  readonly upstream?: { readonly era: EraName; readonly revision: string; readonly connection: number };
  /** Both sides speak one era: only ids, envelopes and times differ. */
  readonly sameEra: boolean;
  readonly frames: readonly LensFrame[];
  readonly links: readonly LensLink[];
  /** One note for each number of `links`. */
  readonly notes: readonly { readonly row: number; readonly say: string }[];
  /** Answers about a task that said the same as the one before are left out, with their requests. The wire has them. */
  readonly leftOut: number;
  /** What a person answered to questions of the call, in the order of time. */
  readonly answers: readonly LensAnswer[];
  readonly ms: number;
}

export interface LensAnswer {
  /** Milliseconds since the first frame, with one decimal. */
  readonly at: number;
  readonly waitedMs: number;
  /** The beginning of the answer: `{"action":"accept","content":{"name":"Ada"}}`. Absent: the question was taken back. */
  readonly answer?: string;
}

export interface LensFrame {
  readonly seq: Seq;
  /** Milliseconds since the first frame, with one decimal. */
  readonly at: number;
  readonly side: 'client' | 'upstream';
  readonly direction: 'to-server' | 'to-client';
  readonly kind: FrameKind;
  readonly method?: string;
  readonly id?: string | number;
  /** A few words: `_meta: version, client, capabilities`, `input_required, requestState`. */
  readonly gist: string;
}

/** A frame of one side and what became of it on the other. `row`: the row of the table in docs/bridge.md. */
export interface LensLink {
  readonly from: Seq;
  readonly to: Seq;
  readonly row: number;
  /** Where the two frames differ, when both are of one kind. At most 50. */
  readonly differences: readonly LensDifference[];
}

export interface LensDifference {
  /** A JSON pointer into the frame: `/params/_meta/progressToken`. */
  readonly pointer: string;
  /** Which of the two frames has it. */
  readonly in: 'client' | 'upstream' | 'both';
  readonly row: number;
  readonly say: string;
}

export interface CompleteRequest {
  readonly ref:
    | { readonly type: 'ref/prompt'; readonly name: string }
    | { readonly type: 'ref/resource'; readonly uri: string };
  readonly argument: { readonly name: string; readonly value: string };
  readonly context?: Readonly<Record<string, string>>;
  readonly server?: string;
}

export interface Completion {
  readonly values: readonly string[];
  readonly total?: number;
  readonly hasMore?: boolean;
}

// -------------------------------------------------------------------------------------------------------- questions

/** A server asks. `params` are those of `elicitation/create` or `sampling/createMessage`. */
export interface QuestionView {
  readonly id: number;
  readonly kind: 'form' | 'url' | 'sampling';
  /** 0: it belongs to no call. */
  readonly call: number;
  readonly server?: string;
  /** The name that the server gives itself, and the tool that led to it. */
  readonly asker: string;
  readonly tool?: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly since: EpochMs;
}

/** Of a form or a page: `action`, with `content` where it is accepted. Of sampling: `result`. Of each: `error`. */
export type QuestionAnswer =
  | { readonly action: 'accept' | 'decline' | 'cancel'; readonly content?: JsonText }
  | { readonly result: JsonText }
  | { readonly error: { readonly code: number; readonly message: string } };

export interface AnsweredQuestion extends QuestionView {
  readonly over?: { readonly at: EpochMs; readonly why: 'answered' | 'withdrawn' | 'ended' };
  /** As it was sent. */
  readonly answer?: JsonText;
}

// ---------------------------------------------------------------------------------------------------------- listens

export interface ListenRequest {
  readonly server?: string;
  readonly tools?: boolean;
  readonly prompts?: boolean;
  readonly resources?: boolean;
  /** The URIs of single resources. */
  readonly uris?: readonly string[];
}

/** One subscription, also after its end. */
export interface ListenView {
  readonly id: number;
  readonly server?: string;
  readonly era: EraName;
  readonly wanted: Omit<ListenRequest, 'server'>;
  readonly honoured: Omit<ListenRequest, 'server'>;
  readonly began: EpochMs;
  readonly ended?: { readonly at: EpochMs; readonly why: string };
  /** The last 100. */
  readonly news: readonly {
    readonly at: EpochMs;
    readonly what: 'tools' | 'prompts' | 'resources' | 'resource';
    readonly uri?: string;
  }[];
}

export type LogLevelName =
  | 'debug'
  | 'info'
  | 'notice'
  | 'warning'
  | 'error'
  | 'critical'
  | 'alert'
  | 'emergency';

export interface LogLevelSet {
  /** `session`: of this connection (legacy). `each request`: of calls without one (modern). */
  readonly how: 'session' | 'each request';
}

export interface LogsQuery extends ServerQuery {
  /** The last lines. Default 200, at most 2,000. */
  readonly lines?: number;
}

export interface LogRow {
  /** Rises by one. */
  readonly number: number;
  readonly at: EpochMs;
  readonly server?: string;
  /** `log`: a message of the server. `process`: what happened to it. */
  readonly source: 'stderr' | 'log' | 'process';
  readonly level?: string;
  readonly logger?: string;
  readonly text: string;
  readonly call?: number;
  readonly pid?: number;
  readonly generation?: number;
  /** How many lines before this one were left out. */
  readonly missed?: number;
}

/** The calls of one tool, prompt or method. */
export interface TimingRow {
  readonly name: string;
  readonly method: string;
  readonly calls: number;
  readonly errors: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  /** The last 2,000 of all rows together: when it began, how long it took, whether it failed. */
  readonly points: readonly (readonly [began: EpochMs, ms: number, failed: 0 | 1, call: number])[];
}

// ------------------------------------------------------------------------------------------------- traces, snippets

/** Which frames: those of the calls, of the recording, or between two numbers. Without any: all of the ring. */
export interface TraceRequest {
  readonly from?: Seq;
  readonly to?: Seq;
  readonly calls?: readonly number[];
  /** Default true. `false` needs `record`. */
  readonly redact?: boolean;
  readonly dry?: boolean;
}

export interface TracePreview {
  readonly frames: number;
  readonly bytes: number;
  /** What was replaced, and what looks like a secret and was left. At most 200. */
  readonly findings: readonly TraceFinding[];
}

export interface TraceFinding {
  readonly seq: Seq;
  readonly what: 'replaced' | 'suspicious';
  /** Why: `a value of the environment`, `looks like a token`. */
  readonly why: string;
  /** The text around it, with the secret itself masked. */
  readonly around: string;
}

/** A line for a shell, a program or a file that does the same. */
export interface SnippetRequest {
  readonly kind: 'cli' | 'curl' | 'test' | 'config' | 'json';
  readonly call?: number;
  readonly method?: string;
  readonly params?: JsonText;
  readonly server?: string;
}

export interface Snippet {
  readonly text: string;
  /** The names of variables that have to be set: secrets are never in the text. */
  readonly needs: readonly string[];
}

// ----------------------------------------------------------------------------------------------------------- checks

export interface CheckRequest {
  readonly suites?: readonly string[];
  readonly only?: readonly string[];
  readonly eras?: readonly EraName[];
  /** Also calls tools that may change something. */
  readonly callTools?: boolean;
  readonly allow?: readonly string[];
  readonly seed?: number;
}

export interface CheckCatalogue {
  readonly suites: readonly { readonly name: string; readonly checks: number }[];
  /** Whether the referee starts copies of the server of its own. */
  readonly startsCopies: boolean;
  readonly runs: readonly CheckProgress[];
}

export interface CheckProgress {
  readonly id: number;
  readonly state: 'running' | 'done' | 'stopped' | 'failed';
  readonly done: number;
  readonly of: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly grade?: string;
  /** The newest finding, in the events of a feed. */
  readonly finding?: FindingView;
  /** Why it failed. */
  readonly problem?: string;
}

export interface CheckRun extends CheckProgress {
  readonly findings: readonly FindingView[];
  /** The report of `isthmus check --json`, once it is there. */
  readonly report?: unknown;
}

export interface FindingView {
  readonly id: string;
  readonly suite: string;
  readonly title: string;
  readonly era?: EraName;
  readonly outcome: 'pass' | 'fail' | 'warn' | 'error' | 'skip' | 'accepted';
  readonly level?: string;
  readonly rules: readonly string[];
  readonly seen?: string;
  readonly mend?: string;
  /** What was sent and received. */
  readonly wire?: readonly string[];
  /** The command line that runs this check alone. */
  readonly again: string;
}

// ---------------------------------------------------------------------------------------------------------- gateway

/** As `/status` has it, for the page. */
export interface StatusView {
  readonly pid: number;
  readonly version: string;
  readonly startedAt: EpochMs;
  readonly listening: readonly string[];
  readonly ready: boolean;
  /** In the order of the configuration. */
  readonly servers: readonly ServerView[];
  /** Why the configuration file was not taken over. */
  readonly configProblem?: string;
  readonly callsPerSecond: number;
  readonly errorShare: number;
}

export interface ServerView {
  readonly name: string;
  readonly kind: 'command' | 'url';
  readonly state: 'ready' | 'starting' | 'restarting' | 'asleep' | 'failed' | 'needs-login' | 'off';
  readonly reason?: string;
  readonly needed: boolean;
  readonly era?: EraName;
  readonly evidence?: string;
  readonly server?: { readonly name: string; readonly version: string };
  readonly paths: readonly string[];
  readonly processes: readonly ProcessView[];
  readonly restarts: number;
  /** When the next start is due. */
  readonly nextAttemptAt?: EpochMs;
  readonly lastExit?: { readonly at: EpochMs; readonly reason: string; readonly stderr: readonly string[] };
  readonly load: {
    readonly running: number;
    readonly waiting: number;
    readonly asking: number;
    readonly conversations: number;
  };
  readonly callsPerSecond: number;
  readonly errorShare: number;
  readonly p95?: number;
  readonly rssBytes?: number;
  /** Of one core, in percent. */
  readonly cpu?: number;
}

export interface ProcessView {
  readonly state: string;
  readonly generation: number;
  readonly pid?: number;
  readonly owner?: string;
  readonly era?: EraName;
  readonly uptimeMs?: number;
  readonly inFlight: number;
  readonly parked: number;
  readonly queued: number;
  /** The proof that this process, and not an earlier one, has answered. */
  readonly receipt?: {
    readonly handshake: 'server/discover' | 'initialize';
    readonly handshakeAt: EpochMs;
    readonly list?: { readonly method: string; readonly items: number; readonly at: EpochMs };
    readonly listError?: string;
    readonly complete: boolean;
  };
  readonly noise: number;
  readonly rssBytes?: number;
  readonly cpu?: number;
}

export interface ServerDetail extends ServerView {
  readonly history: readonly { readonly at: EpochMs; readonly what: string; readonly generation?: number }[];
  readonly limits: Readonly<Record<string, number>>;
  readonly refused: number;
  readonly tools?: { readonly allow?: readonly string[]; readonly deny?: readonly string[] };
  readonly likely: ConnectionProblem['likely'];
}

export interface Reloaded {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  readonly unchanged: readonly string[];
  readonly problem?: string;
}

export interface SeriesQuery extends ServerQuery {
  /** Default: one hour ago. */
  readonly from?: EpochMs;
}

/** One number for each step of 5 s; `null` where nothing was called. */
export interface SeriesView {
  readonly server?: string;
  readonly from: EpochMs;
  readonly stepMs: number;
  readonly calls: readonly number[];
  readonly errors: readonly number[];
  readonly p50: readonly (number | null)[];
  readonly p95: readonly (number | null)[];
  readonly p99: readonly (number | null)[];
  readonly rssBytes: readonly (number | null)[];
  readonly cpu: readonly (number | null)[];
}

/** The step that has just ended, for one server. */
export interface SeriesPoint {
  readonly server: string;
  readonly at: EpochMs;
  readonly calls: number;
  readonly errors: number;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

export interface CallerRow {
  /** Absent: not authenticated. */
  readonly principal?: string;
  /** The names that its clients give themselves. */
  readonly clients: readonly string[];
  readonly eras: readonly EraName[];
  readonly sessions: number;
  readonly now: number;
  readonly calls: number;
  readonly errors: number;
  readonly lastAt: EpochMs;
  /** How many calls run and wait, of those that may run at once. Empty without a principal: these are several callers. */
  readonly limits: readonly {
    readonly server: string;
    readonly running: number;
    readonly waiting: number;
    readonly of: number;
  }[];
}

export interface SessionRow {
  /** Not the session id of the protocol, which is a credential. */
  readonly id: number;
  readonly server: string;
  readonly principal?: string;
  readonly client?: string;
  readonly revision: string;
  readonly since: EpochMs;
  readonly subscribed: number;
}

/** The settings as they were taken over. Values of variables and headers are never here, only their names. */
export interface SettingsView {
  readonly files: readonly string[];
  readonly problems: readonly {
    readonly file?: string;
    readonly line?: number;
    readonly column?: number;
    readonly message: string;
  }[];
  readonly warnings: readonly string[];
  readonly servers: readonly ServerSettingsView[];
  readonly listening: readonly string[];
  /** In words. */
  readonly auth: readonly string[];
  readonly console: {
    readonly address: string;
    readonly recording: 'allowed' | 'forbidden';
    readonly keys: readonly { readonly name: string; readonly levels: readonly AccessLevel[] }[];
  };
}

export interface ServerSettingsView {
  readonly name: string;
  readonly kind: 'command' | 'url';
  /** The program, or the address without its query. */
  readonly what: string;
  /** The names of its variables or headers. */
  readonly secrets: readonly string[];
  /** The other options, as the file has them. */
  readonly options: Readonly<Record<string, unknown>>;
}

export interface RecordingRequest {
  /** Default: all. */
  readonly servers?: readonly string[];
  readonly caller?: string;
  /** At most 15, which is the default. */
  readonly minutes?: number;
}

export interface RecordingView {
  readonly id: number;
  readonly state: 'running' | 'ended';
  readonly by: string;
  readonly servers?: readonly string[];
  readonly caller?: string;
  readonly began: EpochMs;
  readonly until: EpochMs;
  readonly frames: number;
  readonly bytes: number;
}
