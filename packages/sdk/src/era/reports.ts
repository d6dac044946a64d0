import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';
import type { LogEntry, LoggingLevel, ProgressUpdate } from '../wire/model.js';
import { META } from './meta-keys.js';

export function toProgress(params: JsonObject): ProgressUpdate {
  const { progress, total, message } = params;
  const _meta = carriedMeta(params);
  return {
    progress: Number(progress),
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message }),
    ...(_meta && { _meta }),
  };
}

export function toLog(params: JsonObject): LogEntry {
  const { level, data, logger } = params;
  const _meta = carriedMeta(params);
  return {
    level: level as LoggingLevel,
    data,
    ...(typeof logger === 'string' && { logger }),
    ...(_meta && { _meta }),
  };
}

/** The `_meta` of a notification without what belongs to the connection that it came on. Undefined if nothing is left. */
export function carriedMeta({ _meta }: JsonObject): JsonObject | undefined {
  if (!isJsonObject(_meta)) return undefined;
  const { [META.subscriptionId]: _subscription, [META.relatedTask]: _task, ...rest } = _meta;
  return Object.keys(rest).length > 0 ? rest : undefined;
}

const RANK: ReadonlyMap<unknown, number> = new Map<LoggingLevel, number>([
  ['debug', 0],
  ['info', 1],
  ['notice', 2],
  ['warning', 3],
  ['error', 4],
  ['critical', 5],
  ['alert', 6],
  ['emergency', 7],
]);

export function isLoggingLevel(value: unknown): value is LoggingLevel {
  return RANK.has(value);
}

/** True if a message of `level` passes the threshold. */
export function reaches(level: LoggingLevel, threshold: LoggingLevel): boolean {
  return RANK.get(level)! >= RANK.get(threshold)!;
}
