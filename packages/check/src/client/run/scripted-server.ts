import type { Readable, Writable } from 'node:stream';
import type { Over, Scenario, Step } from '../model.js';

/** What the client of one run is given. */
export interface ScriptedServer {
  readonly scenario: Scenario;
  readonly over: Over;
  readonly steps: readonly Step[];
  /** Where the server is, over HTTP. */
  readonly url: string | undefined;
  /** How to start the server, over stdio. */
  readonly command: readonly string[] | undefined;
  /** The same without a process, for clients that run in ours. */
  readonly start: (() => Pipes) | undefined;
  /** A folder of its own, gone afterwards. */
  readonly folder: string;
  readonly boundMs: number;
  /** The run is called off. */
  readonly signal: AbortSignal;
}

export interface Pipes {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly exited: Promise<void>;
  /** As SIGKILL would. */
  kill(): void;
}

/** Plays the part of the client. It settles when the client has ended, or was ended because of the bound. */
export type Player = (stage: ScriptedServer) => Promise<PlayerEnd>;

export interface PlayerEnd {
  readonly code: number | null;
  readonly late: boolean;
  readonly stderr: string;
  readonly error?: string;
}

export const DEFAULT_STEPS: readonly Step[] = [{ do: 'list' }, { do: 'call' }];
