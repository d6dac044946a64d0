import type { ReconnectingCaller } from '@isthmus/sdk/internal/client/reconnecting-caller.js';
import { IsthmusError, messageOf } from '@isthmus/sdk/internal/errors.js';
import { keepExactText } from '@isthmus/sdk/internal/wire/exact-text.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { LogEntry, ProgressUpdate } from '@isthmus/sdk/internal/wire/model.js';
import type { CallRequest, CallRow } from '../contract.js';
import { invalid } from '../http/console-error.js';
import { rawMembers } from '../json/raw-members.js';
import type { CallEntry, CallStore } from '../stores/call-store.js';
import type { LogStore } from '../stores/log-store.js';
import { endingOf, errorOf, failureOf, targetOf } from './call-ending.js';
import type { CallTarget } from './call-target.js';

/** Where calls are written down. */
export interface CallRecords {
  readonly calls: CallStore;
  readonly logs: LogStore;
  /** The text of the result as it came, if the frame of it is still there. */
  resultText(call: number, result: JsonObject): string;
  now(): number;
}

/** Begins a call and returns its entry. The call goes on by itself. */
export function makeCall(
  records: CallRecords,
  callTarget: CallTarget,
  request: CallRequest,
  who: string,
): CallEntry {
  const { method, params: text, timeoutMs = 60_000, lens = false } = request;
  const params = readParams(text);
  const abort = new AbortController();
  const id = records.calls.nextNumber();
  const row: CallRow = {
    id,
    method,
    ...targetOf(method, params),
    ...(callTarget.server !== undefined && { server: callTarget.server }),
    ...(lens && { lens }),
    state: 'running',
    began: records.now(),
    own: true,
  };
  const cancel = (reason: string) => abort.abort(new IsthmusError('CANCELLED', reason));
  const entry: CallEntry = { row, who, params: text, progressed: [], logs: [], questions: [], cancel };
  records.calls.begin(entry);
  const options = { ...request, timeoutMs, maxTimeoutMs: request.maxTimeoutMs ?? HOUR_MS };
  void run(records, callTarget, entry, options, params, abort.signal);
  return entry;
}

const HOUR_MS = 60 * 60_000;

async function run(
  records: CallRecords,
  callTarget: CallTarget,
  entry: CallEntry,
  options: CallRequest & { readonly timeoutMs: number; readonly maxTimeoutMs: number },
  params: JsonObject,
  signal: AbortSignal,
): Promise<void> {
  const { method, timeoutMs, maxTimeoutMs, logLevel, lens } = options;
  const { id } = entry.row;
  const began = performance.now();
  try {
    const caller = lens ? await lensOf(callTarget) : callTarget.caller;
    await caller.connected({ signal, timeoutMs });
    records.calls.change(entry, sidesOf(callTarget, caller));
    const result = await caller.call({
      ...{ method, params, timeoutMs, signal, number: id },
      maxTimeoutMs: Math.max(timeoutMs, maxTimeoutMs),
      ...(logLevel && { logLevel }),
      onLog: (log) => writeLog(records, entry, log),
      onProgress: (update) => writeProgress(records, entry, update),
    });
    entry.result = records.resultText(id, result);
    entry.structured = await checkStructured(callTarget, entry.row, result);
    records.calls.end(entry, { ...endingOf(result), ms: performance.now() - began });
  } catch (error) {
    const thrown = signal.aborted ? signal.reason : error;
    entry.error = errorOf(thrown);
    records.calls.end(entry, { ...failureOf(thrown), ms: performance.now() - began });
  }
}

function lensOf(callTarget: CallTarget): Promise<ReconnectingCaller> {
  if (!callTarget.lens)
    throw new IsthmusError('NOT_IN_THIS_ERA', 'This server cannot be called in both eras here');
  return callTarget.lens();
}

/** Both sides of a call through the bridge, or the one side of any other. */
function sidesOf(callTarget: CallTarget, caller: ReconnectingCaller): Partial<CallRow> {
  const upstream = callTarget.upstreamOf();
  if (caller === callTarget.caller && !callTarget.isBehindGateway) return { upstream };
  const { era, revision } = caller.verdict;
  return { client: { era, revision }, upstream };
}

async function checkStructured(
  { outputs }: CallTarget,
  { tool }: CallRow,
  result: JsonObject,
): Promise<CallEntry['structured']> {
  const checking = tool === undefined ? undefined : outputs.check(tool, result);
  if (!checking) return undefined;
  return checking.then(
    () => ({ matches: true }),
    (error: unknown) => ({ matches: false, problem: messageOf(error) }),
  );
}

function writeProgress(records: CallRecords, entry: CallEntry, update: ProgressUpdate): void {
  const { progress, total, message } = update;
  const view = { progress, ...(total !== undefined && { total }), ...(message !== undefined && { message }) };
  entry.progressed.push({ ...view, at: records.now() });
  if (entry.progressed.length > MAX_PROGRESS) entry.progressed.shift();
  records.calls.change(entry, { progress: view });
}

function writeLog(records: CallRecords, entry: CallEntry, log: LogEntry): void {
  const { server, id } = entry.row;
  const row = records.logs.add({ ...logLine(log), call: id, ...(server !== undefined && { server }) });
  entry.logs.push(row);
  if (entry.logs.length > MAX_LOGS) entry.logs.shift();
}

/** A message of a server for the log. */
export function logLine({ level, logger, data }: LogEntry): {
  readonly source: 'log';
  readonly level: string;
  readonly logger?: string;
  readonly text: string;
} {
  const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? String(data));
  return { source: 'log', level, ...(logger !== undefined && { logger }), text };
}

/** The params. Objects in them leave exactly as they were typed. */
function readParams(text: string): JsonObject {
  let params: unknown;
  try {
    params = JSON.parse(text);
  } catch {
    throw invalid('"params" is not valid JSON');
  }
  if (!isJsonObject(params)) throw invalid('"params" must be a JSON object');
  for (const [name, raw] of rawMembers(text)) {
    const value = params[name];
    if (name !== '_meta' && isJsonObject(value)) keepExactText(value, raw);
  }
  return params;
}

const MAX_PROGRESS = 1000;
const MAX_LOGS = 1000;
