import { readFile } from 'node:fs/promises';
import type { Report } from '@isthmus/check/internal/model.js';
import {
  type Baseline,
  formatBaseline,
  parseBaseline,
  type UpdateOptions,
  updateBaseline,
} from '@isthmus/check/internal/run/baseline.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { usageError } from '../cli-error.js';
import { oneLine } from '../terminal/text.js';
import { write } from './write-reports.js';

/** Reads `--baseline FILE`. Only who is about to write it may do without it. */
export async function readBaseline(file: string, { update = false } = {}): Promise<Baseline> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' && update) return { version: 1, accepted: [] };
    const hint = code === 'ENOENT' ? '--update-baseline writes it' : undefined;
    throw usageError(`Cannot read --baseline ${oneLine(file)}: ${oneLine(message)}`, hint);
  }
  try {
    return parseBaseline(text, oneLine(file));
  } catch (error) {
    if (error instanceof IsthmusError) throw usageError(oneLine(error.message));
    throw error;
  }
}

/** Writes what `--update-baseline` makes of a report. */
export async function writeBaseline(file: string, report: Report, options: UpdateOptions): Promise<Baseline> {
  const baseline = updateBaseline(report.findings, options);
  await write('--baseline', file, formatBaseline(baseline));
  return baseline;
}
