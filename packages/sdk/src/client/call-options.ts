import { checkedOptions, invalidArgument, type OptionNames } from '../arguments.js';
import type { OutgoingCall } from '../exchange/call.js';
import type { JsonObject } from '../wire/json-rpc.js';
import type { InputResponses, LogEntry, LoggingLevel, ProgressUpdate } from '../wire/model.js';

/** Options of one call. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Default: the timeout of `connect`. */
  readonly timeoutMs?: number;
  /** The same as `timeoutMs`, as the official SDK spells it. */
  readonly timeout?: number;
  /** Each progress message restarts the timeout, up to this in all. Default: progress does not restart it. */
  readonly maxTimeoutMs?: number;
  readonly onProgress?: (update: ProgressUpdate) => void;
  readonly onLog?: (entry: LogEntry) => void;
  /** Asks a modern server for logs of this call, of at least this level. */
  readonly logLevel?: LoggingLevel;
  /**
   * Allows the call to run twice: if the connection is lost before the answer, the call is repeated once. A call that
   * was certainly not sent is repeated in any case.
   */
  readonly retry?: 'safe';
  /** Ignores the cache. */
  readonly fresh?: boolean;
}

/** Options of a call whose rounds the caller answers: `input_required` is returned, and continued with these. */
export interface ManualOptions extends CallOptions {
  readonly manual: true;
  readonly inputResponses?: InputResponses;
  /** The state of the last round, unchanged; absent if that had none. */
  readonly requestState?: string;
}

/** Checks the names and the times. Infinity is allowed. Calls without options cost nothing. */
export function checkedCallOptions<T extends CallOptions>(options: T | undefined): T | undefined {
  if (!options) return undefined;
  const checked = checkedOptions('The call', options, CALL_OPTIONS as OptionNames<T>);
  for (const name of ['timeoutMs', 'maxTimeoutMs'] as const) {
    const value = checked[name];
    if (value === undefined || value > 0) continue;
    throw invalidArgument(`${name} must be a positive number, got ${value}`);
  }
  return checked;
}

const CALL_OPTIONS: OptionNames<ManualOptions> = {
  signal: true,
  timeoutMs: true,
  timeout: true,
  maxTimeoutMs: true,
  onProgress: true,
  onLog: true,
  logLevel: true,
  retry: true,
  fresh: true,
  manual: true,
  inputResponses: true,
  requestState: true,
};

export function toCall(
  method: string,
  params: JsonObject,
  options: (CallOptions & Partial<ManualOptions>) | undefined,
  defaultTimeoutMs: number,
  onRound: (() => void) | undefined,
  takesTasks: boolean,
): OutgoingCall {
  if (!options)
    return {
      method,
      params,
      timeoutMs: defaultTimeoutMs,
      maxTimeoutMs: defaultTimeoutMs,
      onRound,
      takesTasks,
    };
  const { timeoutMs = defaultTimeoutMs, inputResponses, requestState } = options;
  return {
    method,
    params: {
      ...params,
      ...(inputResponses !== undefined && { inputResponses }),
      ...(requestState !== undefined && { requestState }),
    },
    timeoutMs,
    maxTimeoutMs: options.maxTimeoutMs ?? timeoutMs,
    signal: options.signal,
    onProgress: options.onProgress,
    onLog: options.onLog,
    logLevel: options.logLevel,
    manual: options.manual,
    retry: options.retry,
    onRound,
    takesTasks: takesTasks && !options.manual,
  };
}
