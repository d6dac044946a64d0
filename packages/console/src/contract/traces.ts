import type { EpochMs, JsonText, Seq } from './words.js';

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
