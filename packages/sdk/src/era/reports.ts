import type { JsonObject } from '../wire/json-rpc.js';
import type { LogEntry, LoggingLevel, ProgressUpdate } from '../wire/model.js';

export function toProgress(params: JsonObject): ProgressUpdate {
  const { progress, total, message } = params;
  return {
    progress: Number(progress),
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message }),
  };
}

export function toLog(params: JsonObject): LogEntry {
  const { level, data, logger } = params;
  return { level: level as LoggingLevel, data, ...(typeof logger === 'string' && { logger }) };
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
