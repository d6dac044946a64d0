import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Arbitrary } from 'fast-check';
import { type CheckConversation, isAlive } from '../../conversation/conversation.js';
import type { Check } from '../../model.js';
import { type CheckContext, Failed } from '../../run/check-context.js';
import { causeInFrame, type FailureCause, noResult } from '../../run/failure-cause.js';
import type { Frame } from '../../wire/transcript.js';
import {
  answers,
  type BadInput,
  describeEnd,
  harmless,
  inShort,
  line,
  peerOf,
  requestOf,
  sendAndExpectAlive,
} from './bad-input.js';
import { complaintOf } from './purity.js';

const common = {
  suite: 'resilience',
  level: 'SHOULD',
  rules: [],
  over: ['command', 'socket'],
  lane: 'own',
} as const satisfies Partial<Check>;

/** Random input. The same `--seed` repeats it. */
export const fuzzChecks: readonly Check[] = [
  {
    ...common,
    id: 'fuzz/bytes',
    title: 'Continues, and sends only messages, after any bytes',
    reason: 'A server often fails on input that its author did not expect.',
    era: 'none',
    hint: 'Send the shown input alone. Catch errors for each line, not around the whole loop.',
    run: (context) =>
      fuzz(context, {
        inputs(fc, conversation) {
          const good = Buffer.from(JSON.stringify(harmless(conversation, 'fuzz')));
          const change = fc.tuple(
            fc.nat({ max: good.length }),
            fc.nat({ max: 4 }),
            fc.uint8Array({ maxLength: 4 }),
          );
          const changed = fc
            .array(change, { minLength: 1, maxLength: 4 })
            .map((changes) =>
              changes.reduce<Buffer>(
                (bytes, [at, less, more]) =>
                  Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at + less)]),
                good,
              ),
            );
          const loose = fc.uint8Array({ maxLength: 300, size: 'max' }).map((bytes) => Buffer.from(bytes));
          return fc.oneof(loose, changed);
        },
        toBadInput: (bytes) => line('it', bytes),
        show: showBytes,
      }),
  },
  {
    ...common,
    id: 'fuzz/messages',
    title: 'Continues, and sends only messages, after any JSON',
    reason: 'JSON that is not a message passes the parser and reaches code that expects a message.',
    hint: 'Send the shown input alone. Check the shape of a message before you use its members.',
    run: (context) =>
      fuzz(context, {
        inputs(fc) {
          const json = fc.jsonValue({ maxDepth: 3 });
          const message = fc.record(
            {
              jsonrpc: fc.oneof({ weight: 3, arbitrary: fc.constant('2.0') }, json),
              id: fc.oneof(fc.string(), fc.integer(), json),
              method: fc.oneof(fc.constantFrom(...LOOKS), fc.string(), json),
              params: fc.oneof(fc.dictionary(fc.string(), json), json),
              result: json,
              error: json,
            },
            { requiredKeys: [] },
          );
          return fc.oneof(message, json);
        },
        toBadInput: (json) => line('it', JSON.stringify(json)),
        show: (json) => JSON.stringify(json),
      }),
  },
  {
    ...common,
    id: 'fuzz/requests',
    title: 'Answers any well-formed request, whatever its params',
    reason: 'A request without an answer is a call that hangs.',
    hint: 'Send the shown input alone. Turn the exception of a handler into an error.',
    run(context) {
      const names = new Set(context.facts.tools.map(({ name }) => name));
      let count = 0;
      return fuzz(context, {
        inputs(fc) {
          const params = fc.dictionary(fc.constantFrom(...PARAMS), fc.jsonValue({ maxDepth: 3 }));
          // Only unknown tools are called, so nothing happens.
          return fc
            .tuple(fc.constantFrom(...METHODS), params)
            .filter(([method, { name }]) => method !== 'tools/call' || !names.has(name));
        },
        toBadInput([method, params], conversation) {
          const id = `fuzz-${count++}`;
          return {
            ...line(method, JSON.stringify(requestOf(conversation, id, method, params as JsonObject))),
            id,
            method,
          };
        },
        show: ([method, params], conversation) =>
          JSON.stringify(requestOf(conversation, 1, method, params as JsonObject)),
      });
    },
  },
];

/** Methods without side effects. */
const LOOKS = [
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'no/such/method',
] as const;
const METHODS = [...LOOKS, 'tools/call'] as const;

const PARAMS = [
  'cursor',
  'name',
  'uri',
  'arguments',
  'ref',
  'argument',
  'context',
  'other',
  '__proto__',
] as const;

function showBytes(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  const isText = Buffer.from(text).equals(bytes) && !/[\p{Cc}\u2028\u2029]/u.test(text);
  return isText ? text : `bytes in hex: ${bytes.toString('hex')}`;
}

type FastCheck = typeof import('fast-check');

/** Input with an `id` must be answered exactly once. */
interface FuzzInput extends BadInput {
  readonly id?: string;
  /** The method, if the input is a valid request. */
  readonly method?: string;
}

interface Fuzz<Input> {
  inputs(fc: FastCheck, conversation: CheckConversation): Arbitrary<Input>;
  toBadInput(input: Input, conversation: CheckConversation): FuzzInput;
  show(input: Input, conversation: CheckConversation): string;
}

/** Tries inputs on one connection after the other. Reports the smallest input that does harm. */
export async function fuzz<Input>(
  context: CheckContext,
  { inputs, toBadInput, show }: Fuzz<Input>,
): Promise<string> {
  const fc = await import('fast-check');
  let conversation = await context.openConversation();
  let harm: Harm = { seen: '' };
  let didHarm = false;
  let runs = 0;
  const tryOut = async (input: Input): Promise<boolean> => {
    if (!conversation.isOpen || (didHarm && !(await isAlive(conversation))))
      conversation = await context.openConversation();
    runs++;
    const found = await harmOf(context, conversation, toBadInput(input, conversation));
    didHarm = found !== undefined;
    if (found !== undefined) harm = found;
    return found === undefined;
  };
  // The time limit of fast-check is wall-clock time. The clock of the run goes more slowly on a busy machine.
  let cancelTimeout = () => {};
  const timeIsUp = new Promise<never>((_, reject) => {
    const stop = () => reject(new fc.PreconditionFailure(true));
    cancelTimeout = context.clock.after(context.patience.checkMs / 2, stop);
  });
  const property = fc.asyncProperty(inputs(fc, conversation), (input) =>
    Promise.race([tryOut(input), timeIsUp]),
  );
  const outcome = await fc.check(property, { seed: context.seed, numRuns: context.fuzzRuns });
  cancelTimeout();
  if (!outcome.failed || !outcome.counterexample) return `${runs} inputs did no harm (seed ${context.seed})`;
  const input = show(outcome.counterexample[0], conversation);
  const note = outcome.interrupted ? '; time ran out before the smallest such input was found' : '';
  return context.fail(
    `${harm.seen} (seed ${context.seed}${note})`,
    'a server that continues, and sends only messages',
    { input, ...(harm.cause && { cause: harm.cause }) },
  );
}

interface Harm {
  readonly seen: string;
  readonly cause?: FailureCause;
}

/** The harm that an input did; undefined if it did none. */
async function harmOf(
  context: CheckContext,
  conversation: CheckConversation,
  badInput: FuzzInput,
): Promise<Harm | undefined> {
  const { transcript } = peerOf(context, conversation);
  const from = transcript.frames.length;
  try {
    const said = await sendAndExpectAlive(context, conversation, badInput);
    const bad = said.map((frame) => complaintAbout(frame, conversation)).find((each) => each !== undefined);
    if (bad !== undefined) return bad;
    if (badInput.id === undefined) return undefined;
    const isAnswer = answers(badInput.id);
    await transcript.waitFor(
      (frame) => isAnswer(frame) && transcript.frames.indexOf(frame) >= from,
      context.patience.answerMs,
    );
    const count = transcript.frames.filter(isAnswer).length;
    if (count === 1) return undefined;
    return {
      seen: `${badInput.what} was answered ${count} times${describeEnd(peerOf(context, conversation))}`,
      ...(count === 0 && badInput.method !== undefined && noResult(badInput.method, undefined)),
    };
  } catch (error) {
    if (error instanceof Failed)
      return { seen: error.seen, ...(error.failureCause && { cause: error.failureCause }) };
    throw error;
  }
}

function complaintAbout(frame: Frame, conversation: CheckConversation): Harm | undefined {
  const complaint = complaintOf(frame, conversation.revision);
  return complaint === undefined
    ? undefined
    : { seen: `it sent ${inShort(frame)} (${complaint})`, ...causeInFrame(frame) };
}
