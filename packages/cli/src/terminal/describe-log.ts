import type { LogEntry } from '@isthmus/sdk/internal/wire/model.js';
import type { Style } from './style.js';
import { printable } from './text.js';

/** A log of the server as lines for stderr. */
export function describeLog({ level, logger, data }: LogEntry, style: Style): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  const paint = SERIOUS.has(level) ? style.red : level === 'warning' ? style.yellow : style.dim;
  const who = logger === undefined || logger === '' ? '' : `${logger}: `;
  return `${paint(printable(`[${level}] ${who}${text}`).trimEnd())}\n`;
}

const SERIOUS: ReadonlySet<string> = new Set(['error', 'critical', 'alert', 'emergency']);
