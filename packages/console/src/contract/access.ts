import type { EpochMs } from './words.js';

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
