import type { LogEntry } from '../wire/model.js';
import type { Receipt } from './status.js';

/** Something that happened to a process of the host. Only for observation. */
export type HostEvent = HostOccurrence & {
  readonly server: string;
  /** Milliseconds since 1970. */
  readonly at: number;
};

export type HostOccurrence =
  /** A process is being started. */
  | {
      readonly kind: 'start';
      readonly generation: number;
      readonly why: 'use' | 'eager' | 'restart' | 'crash' | 'age';
    }
  /** The process has answered. Calls go to it. */
  | {
      readonly kind: 'ready';
      readonly generation: number;
      readonly pid: number | undefined;
      readonly era: string;
      readonly ms: number;
    }
  /** The process has answered its first list, or failed to. */
  | { readonly kind: 'receipt'; readonly receipt: Receipt }
  /** The process exited by itself, or because the host ended it (`expected`). */
  | {
      readonly kind: 'exit';
      readonly generation: number;
      readonly pid: number | undefined;
      readonly phase: 'start' | 'run';
      readonly expected: boolean;
      readonly reason: string;
    }
  /** A new process will be started after `delayMs`. */
  | { readonly kind: 'restart'; readonly attempt: number; readonly delayMs: number }
  /** Processes exited too often in a row. */
  | { readonly kind: 'crash-loop'; readonly attempts: number; readonly reason: string }
  /** The process accepts no new calls. */
  | {
      readonly kind: 'drain';
      readonly generation: number;
      readonly pid: number | undefined;
      readonly why: string;
      readonly inFlight: number;
    }
  /** A call waits, or was refused because too many wait. */
  | { readonly kind: 'queue'; readonly queued: number; readonly refused: boolean }
  /** `maxParked` calls wait for a person. For each further one the oldest call of the client with the most is ended. */
  | { readonly kind: 'parked'; readonly generation: number; readonly parked: number }
  /** The host kills the process. */
  | {
      readonly kind: 'kill';
      readonly generation: number;
      readonly pid: number | undefined;
      readonly why: string;
    }
  /** Tools, prompts or resources differ from those before the restart. */
  | { readonly kind: 'changed'; readonly generation: number; readonly what: readonly string[] }
  /**
   * A conversation can answer more than this legacy process was told at its start, so that the server may offer it fewer
   * tools. `restarts`: the process is idle and is started again. Otherwise call `host.restart()`, or set `capabilities`.
   */
  | {
      readonly kind: 'undeclared';
      readonly generation: number;
      readonly conversation: string;
      readonly capabilities: readonly string[];
      readonly restarts: boolean;
    }
  /** A log entry of the server. `conversation` is set if the entry is known to belong to one. */
  | {
      readonly kind: 'log';
      readonly generation: number;
      readonly pid: number | undefined;
      readonly conversation: string | undefined;
      readonly entry: LogEntry;
    }
  /** The process wrote to stderr. */
  | {
      readonly kind: 'stderr';
      readonly generation: number;
      readonly pid: number | undefined;
      readonly text: string;
    }
  /** A process that a killed host left behind was ended. */
  | { readonly kind: 'reaped'; readonly pid: number; readonly gone: boolean };
