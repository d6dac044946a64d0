import type { JsonObject } from '../wire/json-rpc.js';
import type { LogEntry, LoggingLevel, ProgressUpdate } from '../wire/model.js';

/** Progress and logs as they came over the wire, narrowed. */

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
