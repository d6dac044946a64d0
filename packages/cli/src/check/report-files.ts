import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Report } from '@isthmus/check/internal/model.js';
import { toHtml } from '@isthmus/check/internal/report/html/page.js';
import { toJunit } from '@isthmus/check/internal/report/junit.js';
import { toSarif } from '@isthmus/check/internal/report/sarif.js';
import {
  type Baseline,
  formatBaseline,
  parseBaseline,
  type UpdateOptions,
  updateBaseline,
} from '@isthmus/check/internal/run/baseline.js';
import type { FailOn } from '@isthmus/check/internal/run/grade.js';
import { fileReason, IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { usageError, writeHint, writeReason } from '../cli-error.js';
import { oneLine } from '../terminal/text.js';

/** The files of the reports, by the names of their options. */
export interface ReportFiles {
  readonly junit?: string;
  readonly sarif?: string;
  readonly html?: string;
}

export interface WriteOptions {
  readonly failOn?: FailOn;
  /** The file of the repository that SARIF results are shown at. */
  readonly sarifArtifact?: string;
}

/** Writes the reports that have a file, and creates missing folders. */
export async function writeReports(
  report: Report,
  files: ReportFiles,
  options: WriteOptions = {},
): Promise<void> {
  const { sarifArtifact: artifact, ...rest } = options;
  const texts: Readonly<Record<keyof ReportFiles, () => string>> = {
    junit: () => toJunit(report, rest),
    sarif: () => toSarif(report, artifact === undefined ? {} : { artifact }),
    html: () => toHtml(report, rest),
  };
  for (const [name, toText] of Object.entries(texts)) {
    const file = files[name as keyof ReportFiles];
    if (file !== undefined) await write(`--${name}`, file, toText());
  }
}

/** Writes the file of an option. */
async function write(option: string, file: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  } catch (cause) {
    const why = oneLine(writeReason(cause));
    throw usageError(`Cannot write ${option} ${oneLine(file)}: ${why}`, writeHint(cause));
  }
}

/** Reads `--baseline FILE`. The file may be missing only if it is about to be written. */
export async function readBaseline(file: string, { update = false } = {}): Promise<Baseline> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' && update) return { version: 1, accepted: [] };
    const hint = code === 'ENOENT' ? '--update-baseline creates it' : undefined;
    throw usageError(`Cannot read --baseline ${oneLine(file)}: ${oneLine(fileReason(cause))}`, hint);
  }
  try {
    return parseBaseline(text, oneLine(file));
  } catch (error) {
    if (error instanceof IsthmusError) throw usageError(oneLine(error.message));
    throw error;
  }
}

/** Writes the baseline of `--update-baseline`. */
export async function writeBaseline(file: string, report: Report, options: UpdateOptions): Promise<Baseline> {
  const baseline = updateBaseline(report.findings, options);
  await write('--baseline', file, formatBaseline(baseline));
  return baseline;
}
