import type { Client } from '@isthmus/sdk/internal/client/client.js';
import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Implementation } from '@isthmus/sdk/internal/wire/model.js';
import type { DirectWay } from './request.js';

/** One server under load. The code that opened it closes it. */
export interface BenchSide {
  readonly label: string;
  /** Connected, without reconnects: a server that goes away ends the run. */
  readonly client: Client;
  /** The process that was started for it; undefined for a server that was already running. */
  readonly pid?: number | undefined;
  /** Sends requests without the client, where that is possible. */
  readonly direct?: DirectWay | undefined;
}

/**
 * When requests are sent. `closed`: each starts when another has ended, so a server that stalls gets fewer requests and looks
 * better than it is. `open`: each is due at a fixed time, whether or not earlier ones have ended.
 */
export type BenchLoad =
  | { readonly kind: 'closed'; readonly concurrency: number }
  | { readonly kind: 'open'; readonly perSecond: number; readonly concurrency: number };

export interface BenchSettings {
  readonly load: BenchLoad;
  /** For each target. */
  readonly durationMs: number;
  /** Before the measurement, and not counted. */
  readonly warmupMs: number;
}

/** A tool that the user allows to be called thousands of times. */
export interface BenchTool {
  readonly name: string;
  readonly args: JsonObject;
}

/** The request that is repeated. */
export interface BenchRequest {
  readonly method: string;
  readonly params: JsonObject;
}

/** In milliseconds, exact to three figures: times are counted in buckets of a thousandth. */
export interface Times {
  readonly min: number;
  readonly mean: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

export interface ErrorCount {
  /** `isError`, `error -32602`, or the code of a failure on this side: `TIMED_OUT`. */
  readonly kind: string;
  readonly count: number;
  /** The message of the first one. */
  readonly example: string;
}

/** The longest time without any answer while at least one request was in flight. */
export interface Silence {
  readonly ms: number;
  /** When it began, in the measured time of this target, in milliseconds. */
  readonly atMs: number;
  /** How many requests were due and not answered when it ended. */
  readonly waiting: number;
}

export interface ProcessCost {
  readonly cpuMs: number;
  /** Null if nothing was answered. */
  readonly cpuMicrosPerRequest: number | null;
  /** The peak memory of all its processes together. */
  readonly peakRssBytes: number;
  readonly processes: number;
}

/** What the load generator itself used. It shows whether its own limits were measured. */
export interface DriverCost {
  /** The share of time in which the event loop of the load generator was busy. With a rate it is never idle. */
  readonly busy: number;
  readonly cpuMicrosPerRequest: number | null;
  /** The share of one processor that it used. Near 1, its own limit was measured. */
  readonly cpu: number;
  /** The longest pause of the load generator itself. It saw no answer in that time. */
  readonly longestPauseMs: number;
  /** How much later than due requests were sent; only with a rate. */
  readonly lateMs: Times | null;
}

export interface TurnReport {
  readonly answered: number;
  readonly elapsedMs: number;
  readonly perSecond: number;
}

export interface SideReport {
  readonly target: string;
  readonly era: Era;
  readonly revision: string;
  readonly server: Implementation | null;
  readonly request: BenchRequest;
  readonly answered: number;
  readonly failed: number;
  /** With a rate: due, but never sent, since too many were in flight until the end. */
  readonly unsent: number;
  /** In flight when the run was cancelled. */
  readonly abandoned: number;
  readonly elapsedMs: number;
  readonly perSecond: number;
  /** With a rate: from the time at which a request was due. Otherwise the same as `serviceMs`. */
  readonly latencyMs: Times | null;
  /** From the time at which it was sent. */
  readonly serviceMs: Times | null;
  readonly errors: readonly ErrorCount[];
  readonly longestSilence: Silence | null;
  /** Null if this program did not start the server, or the system has no such data. */
  readonly process: ProcessCost | null;
  readonly driver: DriverCost;
  /** It went away before the end. */
  readonly gone: boolean;
  readonly turns: readonly TurnReport[];
}

/** Values of one target divided by those of the first; null if one of them is unknown. */
export interface Ratios {
  readonly target: string;
  readonly against: string;
  /** The median, minimum and maximum of the turns. */
  readonly throughput: { readonly ratio: number; readonly min: number; readonly max: number } | null;
  readonly latency: Readonly<Record<keyof Times, number | null>>;
  readonly cpuPerRequest: number | null;
  readonly peakRss: number | null;
}

export interface BenchReport {
  readonly load: BenchLoad & {
    readonly durationMs: number;
    readonly warmupMs: number;
    /** How often the targets took turns. */
    readonly turns: number;
  };
  /** `loadBefore`: the average number of runnable processes in the minute before the run. */
  readonly machine: { readonly processors: number; readonly loadBefore: number };
  readonly interrupted: boolean;
  readonly targets: readonly SideReport[];
  readonly ratios: readonly Ratios[];
}
