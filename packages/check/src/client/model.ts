/** The types of `check-client`: scripted servers, what they saw, and how a run ended. */
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { AsideRequest, ScriptRequest, ScriptTurn } from './scripted/script.js';

export const CLIENT_SUITES = [
  'negotiation',
  'messages',
  'rounds',
  'cancel',
  'cache',
  'headers',
  'sessions',
  'robustness',
  'shutdown',
  'tasks',
  'login',
] as const;
export type ClientSuite = (typeof CLIENT_SUITES)[number];

export const OVERS = ['stdio', 'http'] as const;
export type Over = (typeof OVERS)[number];

/** What the client is asked to do. docs/check-client.md lists the steps. */
export type Step =
  | { readonly do: 'list' }
  | { readonly do: 'call'; readonly name?: string; readonly arguments?: JsonObject }
  | { readonly do: 'together'; readonly calls: readonly { name: string; arguments?: JsonObject }[] }
  | { readonly do: 'cancel'; readonly name: string; readonly afterMs: number }
  | { readonly do: 'listen' }
  | { readonly do: 'wait'; readonly ms: number };

/** A server with one property, or one fault. */
export interface Scenario {
  readonly name: string;
  /** What the server is like: "A legacy server that says nothing to the probe". */
  readonly title: string;
  readonly over: readonly Over[];
  /** The eras whose clients can reach its tool. Empty: no client can, and the client must report an error. */
  readonly serves: readonly ('legacy' | 'modern')[];
  /** Default: list the tools, call the first one. */
  readonly steps?: readonly Step[];
  /** Only checks that name it look at it, since it needs other messages than ordinary servers. */
  readonly apart?: boolean;
  /** The client has to log in. Returns what MCP_LOGIN has. Only checks of logins look at it. */
  readonly login?: (origin: string) => JsonObject;
  /** A fresh server: for every process over stdio, for every run over HTTP. */
  readonly open: (over: Over) => Script;
}

/** What a scripted server does. */
export interface Script {
  readonly receive: (turn: ScriptTurn) => void;
  /** HTTP requests other than POST. Returns whether it answered; otherwise the answer is 405. */
  readonly visit?: (visit: ScriptRequest) => boolean;
  /** HTTP requests that are not MCP. Returns whether it answered; otherwise the answer is 404. */
  readonly aside?: (request: AsideRequest) => boolean;
  /** Before the first message, over stdio. */
  readonly begin?: (write: (text: string | Uint8Array) => void) => void;
  /** What it does at the end of its input (stdio): exits at once (default), late, or not at all. */
  readonly atEnd?: { readonly afterMs: number } | 'stays';
}

/** What a scripted server saw and did, in order. Times are milliseconds since the epoch. */
export type Entry =
  /** `beside`: how many other servers of the same run were running. */
  | { readonly kind: 'started'; readonly at: number; readonly life: number; readonly beside: number }
  /** A line, or the body of a POST. `broken`: it was not UTF-8. */
  | {
      readonly kind: 'in';
      readonly at: number;
      readonly life: number;
      readonly text: string;
      readonly exchange?: number;
      readonly broken?: true;
    }
  | {
      readonly kind: 'out';
      readonly at: number;
      readonly life: number;
      readonly text: string;
      readonly exchange?: number;
    }
  | {
      readonly kind: 'head';
      readonly at: number;
      readonly life: number;
      readonly exchange: number;
      readonly method: string;
      readonly path: string;
      readonly headers: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: 'status';
      readonly at: number;
      readonly life: number;
      readonly exchange: number;
      readonly status: number;
    }
  /** The client closed an exchange before its answer was complete. */
  | { readonly kind: 'hung-up'; readonly at: number; readonly life: number; readonly exchange: number }
  | { readonly kind: 'eof'; readonly at: number; readonly life: number }
  | { readonly kind: 'signal'; readonly at: number; readonly life: number; readonly signal: string }
  | { readonly kind: 'exit'; readonly at: number; readonly life: number }
  /** The client gave a page to the browser. */
  | { readonly kind: 'opened'; readonly at: number; readonly life: number; readonly url: string }
  /** A file of the client with a token in it, after its end. `mode`: its permissions. */
  | {
      readonly kind: 'stored';
      readonly at: number;
      readonly life: number;
      readonly file: string;
      readonly mode: number;
    };

/** How the client's run ended. */
export interface End {
  /** `null`: a signal ended it, or this program killed it. */
  readonly code: number | null;
  /** It did not end within the time limit. */
  readonly late: boolean;
  readonly at: number;
  readonly ms: number;
  /** The end of its stderr. */
  readonly stderr: string;
  /** Server processes that were still running a moment after the client had exited. */
  readonly left: number;
  /** Why it could not be started. */
  readonly error?: string;
}

export interface ClientTranscript {
  readonly scenario: string;
  readonly over: Over;
  readonly entries: readonly Entry[];
  readonly end: End;
}
