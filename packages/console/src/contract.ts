/**
 * The contract between the page (`web/`) and the process (`src/`). Both sides compile against it. This file has all routes;
 * the files of `contract/` have what the routes take and answer. The contract has only types, and imports nothing else.
 * README.md in this package says how the page is run and what it may rely on.
 *
 * Base: the page is at `…/console/`, the routes below are at `…/console/api/`. Requests and answers are JSON. Every route
 * but `POST enter` needs the header `Isthmus-Key`. A failure has an `ApiFailure` as its body and one of the statuses 400,
 * 401, 403, 404, 409, 413, 415, 429, 500, 503. Bodies have at most 4 MiB.
 *
 * Two words for places: the `client` side is between a client and a bridge, the `upstream` side is between us and a server.
 * A frame goes `to-server` or `to-client`, on both sides.
 */

import type { Entered, EnterRequest, Hello } from './contract/access.js';
import type {
  Begun,
  BytesRequest,
  CallDetail,
  CallRequest,
  CallsPage,
  CallsQuery,
  QuestionAnswer,
  QuestionView,
} from './contract/calls.js';
import type { CheckCatalogue, CheckRequest, CheckRun } from './contract/checks.js';
import type { ConnectionSettings, ConnectionView } from './contract/connections.js';
import type { FeedRequest } from './contract/feed.js';
import type { FramesPage, FramesQuery, FrameView } from './contract/frames.js';
import type {
  CallerRow,
  Reloaded,
  ServerDetail,
  SessionRow,
  SettingsView,
  StatusView,
} from './contract/gateway.js';
import type { Lens } from './contract/lens.js';
import type { LogLevelName, LogLevelSet, LogRow, LogsQuery } from './contract/logs.js';
import type {
  CompleteRequest,
  Completion,
  ListenRequest,
  ListenView,
  ListPage,
  ListQuery,
} from './contract/offers.js';
import type { SeriesQuery, SeriesView, TimingRow } from './contract/timing.js';
import type {
  RecordingRequest,
  RecordingView,
  Snippet,
  SnippetRequest,
  TracePreview,
  TraceRequest,
} from './contract/traces.js';
import type { Bytes, None, Route, ServerQuery } from './contract/words.js';

export type * from './contract/access.js'; // Who may enter, and what the page learns first.
export type * from './contract/calls.js'; // How a call begins, what a server asks in it, and what is known of it.
export type * from './contract/checks.js'; // The runs of the referee.
export type * from './contract/connections.js'; // The connections, how they were made, and why one failed.
export type * from './contract/feed.js'; // The topics and the events of the event stream.
export type * from './contract/frames.js'; // Frames: one short row of each, one of them in full, and pages.
export type * from './contract/gateway.js'; // The servers of a gateway, its callers, sessions and settings.
export type * from './contract/lens.js'; // Both sides of one call.
export type * from './contract/logs.js'; // Lines of stderr, log messages, and what happened to processes.
export type * from './contract/offers.js'; // What a server offers: lists, completions, subscriptions.
export type * from './contract/timing.js'; // How long calls took: each of them, and over the last hours.
export type * from './contract/traces.js'; // What is kept: files of frames, recordings, lines that make a call again.
export type * from './contract/words.js'; // What all routes share: times, eras, JSON as it was typed, failures.

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
