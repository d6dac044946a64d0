import type { Arbitrary } from 'fast-check';
import { isAlive } from '../../conversation/alive.js';
import type { CheckConversation } from '../../conversation/conversation.js';
import type { CheckContext } from '../../run/check-context.js';
import { Failed } from '../../run/verdict.js';
import type { Frame } from '../../wire/transcript.js';
import { answers, type BadInput, describeEnd, inShort, peerOf, strike } from './bad-input.js';
import { complaintOf } from './purity.js';

type FastCheck = typeof import('fast-check');

export interface Fuzz<Input> {
  inputs(fc: FastCheck, talk: CheckConversation): Arbitrary<Input>;
  /** With an `id` it has to be answered, once. */
  blow(input: Input, talk: CheckConversation): BadInput & { readonly id?: string };
  show(input: Input, talk: CheckConversation): string;
}

/** Tries inputs on one connection after the other. Reports the smallest input that does harm. */
export async function fuzz<Input>(table: CheckContext, { inputs, blow, show }: Fuzz<Input>): Promise<string> {
  const fc = await import('fast-check');
  let talk = await table.openTalk();
  let harm = '';
  let didHarm = false;
  let runs = 0;
  const tryOut = async (input: Input): Promise<boolean> => {
    if (!talk.isOpen || (didHarm && !(await isAlive(talk)))) talk = await table.openTalk();
    runs++;
    const found = await harmOf(table, talk, blow(input, talk));
    didHarm = found !== undefined;
    if (found !== undefined) harm = found;
    return found === undefined;
  };
  // The time limit of fast-check is wall-clock time. The clock of the run goes more slowly on a busy machine.
  let cancelTimeout = () => {};
  const timeIsUp = new Promise<never>((_, reject) => {
    const stop = () => reject(new fc.PreconditionFailure(true));
    cancelTimeout = table.clock.after(table.patience.checkMs / 2, stop);
  });
  const property = fc.asyncProperty(inputs(fc, talk), (input) => Promise.race([tryOut(input), timeIsUp]));
  const outcome = await fc.check(property, { seed: table.seed, numRuns: table.fuzzRuns });
  cancelTimeout();
  if (!outcome.failed || !outcome.counterexample) return `${runs} inputs did no harm (seed ${table.seed})`;
  const input = show(outcome.counterexample[0], talk);
  const note = outcome.interrupted ? '; time ran out before the smallest such input was found' : '';
  return table.fail(
    `${harm} (seed ${table.seed}${note})`,
    'a server that goes on, and says nothing but messages',
    { input },
  );
}

/** What an input did; undefined when it did no harm. */
async function harmOf(
  table: CheckContext,
  talk: CheckConversation,
  blow: BadInput & { readonly id?: string },
): Promise<string | undefined> {
  const { transcript } = peerOf(table, talk);
  const from = transcript.frames.length;
  try {
    const said = await strike(table, talk, blow);
    const bad = said.map((frame) => complaintAbout(frame, talk)).find((each) => each !== undefined);
    if (bad !== undefined) return bad;
    if (blow.id === undefined) return undefined;
    const isAnswer = answers(blow.id);
    await transcript.waitFor(
      (frame) => isAnswer(frame) && transcript.frames.indexOf(frame) >= from,
      table.patience.answerMs,
    );
    const count = transcript.frames.filter(isAnswer).length;
    if (count === 1) return undefined;
    return `${blow.what} was answered ${count} times${describeEnd(peerOf(table, talk))}`;
  } catch (error) {
    if (error instanceof Failed) return error.seen;
    throw error;
  }
}

function complaintAbout(frame: Frame, talk: CheckConversation): string | undefined {
  const complaint = complaintOf(frame, talk.revision);
  return complaint === undefined ? undefined : `it said ${inShort(frame)} (${complaint})`;
}
