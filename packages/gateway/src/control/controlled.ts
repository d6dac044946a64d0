import type { LogLine } from '../log-tail.js';
import type { GatewayStatus } from '../status.js';

/** What a running gateway can be asked to do from outside. */
export interface Controlled {
  status(): Promise<GatewayStatus>;
  /** Settles when the server has answered again, or rejects with why it has not. */
  restart(name: string): Promise<void>;
  /** Finishes what is running, ends its processes, and switches it off. */
  stop(name: string): Promise<void>;
  start(name: string): Promise<void>;
  /** Reads the configuration again. */
  reload(): Promise<ReloadReport>;
  /** The last lines of a server, or of all; with `follow` also those that come, until the signal. */
  logs(name: string | undefined, options: LogsOptions, signal: AbortSignal): AsyncIterable<LogLine>;
  /** Begins to end the gateway. */
  shutdown(): void;
}

export interface LogsOptions {
  /** How many of the lines that are there already. */
  readonly lines: number;
  readonly follow: boolean;
}

/** What reading the configuration again has changed: names of servers. */
export interface ReloadReport {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  readonly unchanged: readonly string[];
  /** Why nothing was taken over. */
  readonly problem: string | undefined;
}
