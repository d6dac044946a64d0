import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { Report } from '../model.js';
import { cleanLine, shortened } from '../report/clean-text.js';
import { type CheckOptions, checkServer } from '../run/check-server.js';
import { type SubjectOrLater, toTarget } from './subject.js';

/** Runs the checks. Where there is nothing to judge, the message has the evidence: logs of tests show nothing else. */
export async function judge(subject: SubjectOrLater, options: CheckOptions): Promise<Report> {
  const target = await toTarget(subject);
  try {
    return await checkServer(target, options);
  } catch (error) {
    if (!(error instanceof IsthmusError) || !error.evidence?.length) throw error;
    const { code, message, evidence } = error;
    const lines = evidence.map((line) => `  ${shortened(cleanLine(line), 1000)}`);
    throw new IsthmusError(code, [message, ...lines].join('\n'), { cause: error, evidence });
  }
}
