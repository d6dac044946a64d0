import type { Writable } from 'node:stream';
import type { ProgressUpdate } from '@isthmus/sdk/internal/wire/model.js';
import { fit } from './table.js';
import type { Style } from './terminal.js';
import { oneLine } from './text.js';

/**
 * The progress of a command on stderr: one line that is redrawn, with other lines above it. `live` needs a terminal;
 * `plain` writes a line for every update; `none` writes only the other lines.
 */
export interface ProgressLine {
  update(update: ProgressUpdate): void;
  /** Writes lines above the progress. */
  write(text: string): void;
  /** Removes the line until the next update. */
  hide(): void;
}

export function createProgressLine(
  stream: Writable & { readonly columns?: number },
  mode: 'live' | 'plain' | 'none',
  style: Style,
): ProgressLine {
  let drawn = '';
  const hide = () => {
    if (drawn !== '') stream.write('\r\u001b[K');
    drawn = '';
  };
  return {
    hide,
    update(update) {
      if (mode === 'plain') stream.write(`progress ${describeProgress(update)}\n`);
      if (mode !== 'live') return;
      const text = fit(`${bar(update)}${describeProgress(update)}`, (stream.columns || 80) - 1);
      if (text === drawn) return;
      hide();
      drawn = text;
      stream.write(style.cyan(text));
    },
    write(text) {
      const before = drawn;
      hide();
      stream.write(text);
      if (before === '') return;
      drawn = before;
      stream.write(style.cyan(before));
    },
  };
}

function describeProgress({ progress, total, message }: ProgressUpdate): string {
  const amount =
    total === undefined || total <= 0 ? `${round(progress)}` : `${round(progress)}/${round(total)}`;
  return message === undefined || message === '' ? amount : `${amount} ${oneLine(message)}`;
}

const CELLS = 20;

function bar({ progress, total }: ProgressUpdate): string {
  if (total === undefined || total <= 0) return '… ';
  const share = Math.min(1, Math.max(0, progress / total));
  const full = Math.round(share * CELLS);
  return `[${'#'.repeat(full)}${'.'.repeat(CELLS - full)}] ${String(Math.round(share * 100)).padStart(3)}%  `;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
