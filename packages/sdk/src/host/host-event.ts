import type { LogEntry } from '../wire/model.js';
import type { Receipt } from './status.js';

/** Something that happened to a process of the host. For watching, never for steering. */
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
  /** It has answered; calls go to it. */
  | {
      readonly kind: 'ready';
      readonly generation: number;
      readonly pid: number | undefined;
      readonly era: string;
      readonly ms: number;
    }
  /** It has answered its first list, too. */
  | { readonly kind: 'receipt'; readonly receipt: Receipt }
  /** It ended by itself, or because the host ended it (`expected`). */
  | {
      readonly kind: 'exit';
      readonly generation: number;
      readonly pid: number | undefined;
      readonly phase: 'start' | 'run';
      readonly expected: boolean;
      readonly reason: string;
    }
  /** Another one will be started. */
  | { readonly kind: 'restart'; readonly attempt: number; readonly delayMs: number }
  /** It ended too often in a row. */
  | { readonly kind: 'crash-loop'; readonly attempts: number; readonly reason: string }
  /** It takes no new calls. */
  | {
      readonly kind: 'drain';
      readonly generation: number;
      readonly pid: number | undefined;
      readonly why: string;
      readonly inFlight: number;
    }
  /** Calls wait, or have to be refused. */
  | { readonly kind: 'queue'; readonly queued: number; readonly refused: boolean }
  /** So many calls wait for a person that the oldest of the client with most of them is ended for each new one. */
  | { readonly kind: 'parked'; readonly generation: number; readonly parked: number }
  /** It had to be killed. */
  | {
      readonly kind: 'kill';
      readonly generation: number;
      readonly pid: number | undefined;
      readonly why: string;
    }
  /** Tools, prompts or resources are not what they were before the restart. */
  | { readonly kind: 'changed'; readonly generation: number; readonly what: readonly string[] }
  /** A log line of the server; `conversation` where it is known whose it is. */
  | {
      readonly kind: 'log';
      readonly generation: number;
      readonly pid: number | undefined;
      readonly conversation: string | undefined;
      readonly entry: LogEntry;
    }
  /** What it wrote to stderr. */
  | {
      readonly kind: 'stderr';
      readonly generation: number;
      readonly pid: number | undefined;
      readonly text: string;
    }
  /** Leftovers of a host that was killed have been ended. */
  | { readonly kind: 'reaped'; readonly pid: number; readonly gone: boolean };
