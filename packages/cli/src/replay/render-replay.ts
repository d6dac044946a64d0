import type { Terminal } from '../terminal/terminal.js';
import { cut, oneLine } from '../terminal/text.js';
import type { AnswerDifference } from './compare-answers.js';
import type { ReplayedRequest } from './replay-conversation.js';
import { isDifferent, type ReplayReport } from './run-replay.js';

/** The differences for people, and one line that counts. */
export function renderReplay(report: ReplayReport, { out }: Terminal): string {
  const { requests, compared, different } = report;
  const lines = requests
    .filter(isDifferent)
    .flatMap((request) => [
      out.bold(titleOf(request)),
      ...(request.failure === undefined ? [] : [`  ${oneLine(request.failure)}`]),
      ...request.differences.slice(0, SHOWN).flatMap((each) => describe(each).map((line) => `  ${line}`)),
      ...(request.differences.length > SHOWN
        ? [`  and ${request.differences.length - SHOWN} more: --json has them`]
        : []),
    ]);
  const count = `${compared} compared: ${compared - different} as recorded, ${different} different`;
  return `${[...lines, different === 0 ? out.green(count) : out.red(count)].join('\n')}\n`;
}

const SHOWN = 10;
const MAX_VALUE = 200;

function titleOf({ frame, method, about }: ReplayedRequest): string {
  const what = [method, about].filter((part) => part !== undefined && part !== '').join(' ');
  return oneLine(frame === 0 ? what : `frame ${frame}  ${what}`);
}

function describe({ path, what, recorded, now }: AnswerDifference): string[] {
  const place = oneLine(path);
  if (what === 'added') return [`${place}  is new: ${shown(now)}`];
  if (what === 'missing') return [`${place}  is missing: ${shown(recorded)}`];
  return [place, `  was ${shown(recorded)}`, `  is  ${shown(now)}`];
}

function shown(value: unknown): string {
  return cut(oneLine(JSON.stringify(value) ?? 'nothing'), MAX_VALUE);
}
