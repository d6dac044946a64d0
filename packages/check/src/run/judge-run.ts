import type { Report } from '../model.js';

/** The least that fails a run: a broken `MUST`, or also a broken `SHOULD`. */
export type FailOn = 'must' | 'should';

export interface RunVerdict {
  readonly passed: boolean;
  /** Why not, a clause each: `2 MUST are broken`. Empty when it passed. */
  readonly reasons: readonly string[];
}

/** Whether the run is green. What could not be finished, or did not happen at all, is never green. */
export function verdictOf(
  { counts, stale, goneAfter }: Pick<Report, 'counts' | 'stale' | 'goneAfter'>,
  failOn: FailOn = 'must',
): RunVerdict {
  const { pass, fail, warn, error, accepted } = counts;
  const applied = pass + fail + warn + error + accepted;
  const reasons = [
    ...(goneAfter === undefined
      ? []
      : [`the server was gone after ${goneAfter}, so only what was seen before is judged`]),
    ...(applied === 0 ? ['no check applied'] : []),
    ...(fail > 0 ? [`${fail} MUST ${fail === 1 ? 'is' : 'are'} broken`] : []),
    ...(failOn === 'should' && warn > 0 ? [`${warn} SHOULD ${warn === 1 ? 'is' : 'are'} broken`] : []),
    ...(error > 0 ? [`${error} ${error === 1 ? 'check' : 'checks'} could not be finished`] : []),
    ...(stale.length > 0
      ? [
          `${stale.length} ${stale.length === 1 ? 'entry of the baseline is' : 'entries of the baseline are'} stale`,
        ]
      : []),
  ];
  return { passed: reasons.length === 0, reasons };
}
