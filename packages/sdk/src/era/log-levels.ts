import type { LoggingLevel } from '../wire/model.js';

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

/** True when a message of `level` passes a threshold. */
export function reaches(level: LoggingLevel, threshold: LoggingLevel): boolean {
  return RANK.get(level)! >= RANK.get(threshold)!;
}
