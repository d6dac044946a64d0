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

/** From the mildest to the most serious. */
export const LOGGING_LEVELS = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const satisfies readonly LoggingLevel[];

const RANK: ReadonlyMap<unknown, number> = new Map(LOGGING_LEVELS.map((level, rank) => [level, rank]));

export function isLoggingLevel(value: unknown): value is LoggingLevel {
  return RANK.has(value);
}

/** True if a message of `level` passes the threshold. */
export function reaches(level: LoggingLevel, threshold: LoggingLevel): boolean {
  return RANK.get(level)! >= RANK.get(threshold)!;
}
