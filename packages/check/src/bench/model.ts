import type { Client } from '@isthmus/sdk/internal/client/client.js';
import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Implementation } from '@isthmus/sdk/internal/wire/model.js';
import type { DirectWay } from './request.js';

/** One server under load. Whoever opened it closes it. */
export interface BenchSide {
  readonly label: string;
  /** Connected, and not to be connected again: a server that goes away ends the run. */
  readonly client: Client;
  /** The process that was started for it; none for a server that somebody else runs. */
  readonly pid?: number | undefined;
  /** The short way, where there is one: what is measured does not go through the client. */
  readonly direct?: DirectWay | undefined;
}

/**
 * When requests leave. `closed`: each begins when another has ended, so a server that stalls is asked less and looks
 * better than it is. `open`: each is due at a time of its own, whatever became of those before it.
 */
export type BenchLoad =
  | { readonly kind: 'closed'; readonly concurrency: number }
  | { readonly kind: 'open'; readonly perSecond: number; readonly concurrency: number };

export interface BenchSettings {
  readonly load: BenchLoad;
  /** Of each target. */
  readonly durationMs: number;
  /** Before it, and not counted. */
  readonly warmupMs: number;
}

/** A tool that the user has agreed to have called, thousands of times. */
export interface BenchTool {
  readonly name: string;
  readonly args: JsonObject;
}

/** What is asked, again and again. */
export interface BenchRequest {
  readonly method: string;
  readonly params: JsonObject;
}

/** Three figures are true: the times are kept in buckets of a thousandth. */
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
  /** `isError`, `error -32602`, or the word of a failure on this side: `TIMED_OUT`. */
  readonly kind: string;
  readonly count: number;
  /** What the first of them said. */
  readonly example: string;
}

/** The longest time without any answer while at least one was awaited. */
export interface Silence {
  readonly ms: number;
  /** When it began, in the measured time of this target. */
  readonly atMs: number;
  /** How many requests were due and not answered when it ended. */
  readonly waiting: number;
}

export interface ProcessCost {
  readonly cpuMs: number;
  /** Null where nothing came back. */
  readonly cpuMicrosPerRequest: number | null;
  /** The most memory that it ever held, all its processes together. */
  readonly peakRssBytes: number;
  readonly processes: number;
}

/** What measuring cost, so that one can see whose limits were measured. */
export interface DriverCost {
  /** The share of time in which the event loop of the driver had something to do; with a rate it is never idle. */
  readonly busy: number;
  readonly cpuMicrosPerRequest: number | null;
  /** The share of one processor that it used. Near 1, its own limit was measured. */
  readonly cpu: number;
  /** The longest time in which the driver itself did nothing: no answer was seen in it, whoever was to blame. */
  readonly longestPauseMs: number;
  /** How much later than due the driver sent what it could have sent; with a rate only. */
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
  /** With a rate: due, and never sent, since there were too many in flight until the end. */
  readonly unsent: number;
  /** In flight when the run was called off. */
  readonly abandoned: number;
  readonly elapsedMs: number;
  readonly perSecond: number;
  /** With a rate: from the time at which a request was due. Otherwise the same as `serviceMs`. */
  readonly latencyMs: Times | null;
  /** From the time at which it was sent. */
  readonly serviceMs: Times | null;
  readonly errors: readonly ErrorCount[];
  readonly longestSilence: Silence | null;
  /** Null where the server is not a process of ours, or the system does not tell. */
  readonly process: ProcessCost | null;
  readonly driver: DriverCost;
  /** It went away before the end. */
  readonly gone: boolean;
  readonly turns: readonly TurnReport[];
}

/** A number of one target divided by that of the first; null where one of them is not known. */
export interface Ratios {
  readonly target: string;
  readonly against: string;
  /** The median of the turns, and the least and the most of them. */
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
  /** What the machine had to do before the run: processes that wanted a processor, on average of the last minute. */
  readonly machine: { readonly processors: number; readonly loadBefore: number };
  readonly interrupted: boolean;
  readonly targets: readonly SideReport[];
  readonly ratios: readonly Ratios[];
}
