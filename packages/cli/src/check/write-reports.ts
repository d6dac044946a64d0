import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Report } from '@isthmus/check/internal/model.js';
import { toHtml } from '@isthmus/check/internal/report/html/page.js';
import { toJunit } from '@isthmus/check/internal/report/junit.js';
import { toSarif } from '@isthmus/check/internal/report/sarif.js';
import type { FailOn } from '@isthmus/check/internal/run/grade.js';
import { usageError } from '../cli-error.js';
import { writeHint } from '../explain-write.js';
import { oneLine } from '../terminal/text.js';

/** Where reports are wanted, by the names of the options. */
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

/** Writes the reports that were asked for, and makes the folders that they need. */
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

/** Writes a file that an option names. */
export async function write(option: string, file: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  } catch (cause) {
    const why = oneLine((cause as Error).message);
    throw usageError(`Cannot write ${option} ${oneLine(file)}: ${why}`, writeHint(cause));
  }
}
