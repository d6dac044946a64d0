/** `requestState`, which a client may have changed. */

import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import type { WalkthroughStop } from '../../../survey/facts.js';
import { answersTo, askingStops, describe, isSuccess, nameOf, openRound, retry, roundIn } from './asking.js';

const common = { suite: 'protocol', era: 'modern', lane: 'abuse' } as const;

export const roundsStateChecks: readonly Check[] = [
  {
    ...common,
    id: 'rounds/refuses-changed-state',
    title: 'Refuses a requestState that was changed',
    level: 'SHOULD',
    rules: ['MRTR-010', 'MRTR-009'],
    reason: 'A client cannot see whether the state matters. If it does, this is a MUST (MRTR-010, MRTR-011).',
    hint: 'Sign or encrypt the state (HMAC, AEAD), and answer -32602 if verification fails.',
    async run(context) {
      const stops = withState(context).slice(0, 3);
      const conversation = await context.abuseConversation();
      for (const stop of stops) {
        for (const share of [1 / 3, 2 / 3]) {
          const round = await openRound(context, conversation, stop);
          const changed = withOtherLetter(round.state ?? '', share);
          const reply = await retry(conversation, stop, round, answersTo(round), { requestState: changed });
          if (isSuccess(reply))
            context.fail(`${nameOf(stop)} with a changed state had ${describe(reply)}`, REFUSAL);
        }
      }
      return `${stops.map(nameOf).join(', ')}: a changed state was refused`;
    },
  },
  {
    ...common,
    id: 'rounds/bears-any-state',
    title: 'Answers a request with any requestState, and keeps running',
    level: 'MUST',
    rules: ['MRTR-009'],
    hint: 'Treat the state as untrusted input: catch errors while you decode it, and answer with -32602.',
    async run(context) {
      const stop = askingStops(context)[0]!;
      const conversation = await context.abuseConversation();
      for (const state of HOSTILE) {
        const reply = await conversation.request(stop.method, {
          ...stop.params,
          inputResponses: {},
          requestState: state,
        });
        if (reply.kind === 'silence')
          context.fail(`${nameOf(stop)} with ${shown(state)} had ${describe(reply)}`, 'an answer');
      }
      const after = await conversation.request('server/discover');
      if (after.kind !== 'result')
        context.fail(`after invalid states server/discover had ${describe(after)}`, 'a result');
      return `${nameOf(stop)}: ${HOSTILE.length} invalid states were answered`;
    },
  },
  {
    ...common,
    id: 'rounds/state-belongs-to-its-request',
    title: 'Refuses a requestState of another request',
    level: 'SHOULD',
    rules: ['MRTR-012'],
    hint: 'Put a digest of method, name and arguments into the protected state, and compare it with the request.',
    async run(context) {
      const stops = withState(context);
      const pairs = stops.flatMap((stop) => {
        const other = stops.find((each) => each !== stop && each.method === stop.method);
        return other ? [[stop, other] as const] : [];
      });
      if (pairs.length === 0) context.skip('only one callable request has a requestState');
      const conversation = await context.abuseConversation();
      for (const [stop, other] of pairs.slice(0, 3)) {
        const foreign = await openRound(context, conversation, other);
        const round = await openRound(context, conversation, stop);
        const reply = await retry(conversation, stop, round, answersTo(round), {
          requestState: foreign.state,
        });
        if (isSuccess(reply))
          context.fail(`${nameOf(stop)} with the state of ${nameOf(other)} had ${describe(reply)}`, REFUSAL);
      }
      return `none of ${pairs.length} states was accepted for another request`;
    },
  },
  {
    ...common,
    id: 'rounds/state-belongs-to-its-arguments',
    title: 'Refuses a requestState when the arguments have changed',
    level: 'SHOULD',
    rules: ['MRTR-012'],
    hint: 'Bind the state to the arguments of its request.',
    async run(context) {
      const found = withState(context).flatMap((stop) => {
        const args = otherArguments(context, stop);
        return args ? [{ stop, args }] : [];
      });
      const { stop, args } =
        found[0] ?? context.skip('no request with a requestState has arguments that can be changed');
      const conversation = await context.abuseConversation();
      const round = await openRound(context, conversation, stop);
      const reply = await retry(conversation, stop, round, answersTo(round), { arguments: args });
      if (isSuccess(reply))
        context.fail(
          `${nameOf(stop)} with other arguments (${JSON.stringify(args)}) had ${describe(reply)}`,
          REFUSAL,
        );
      return `${nameOf(stop)}: the state was refused with other arguments`;
    },
  },
  {
    ...common,
    id: 'rounds/answers-a-replay',
    title: 'Answers a retry that is sent twice',
    level: 'SHOULD',
    rules: [],
    reason:
      'A client that lost the answer sends the retry again. The server may refuse it, and must refuse it if the state is valid only once (MRTR-013), but it must answer.',
    hint: 'If a state is valid only once, remember that it was used, and answer -32602 to the second use.',
    async run(context) {
      const stop = withState(context)[0]!;
      const conversation = await context.abuseConversation();
      const round = await openRound(context, conversation, stop);
      await retry(conversation, stop, round, answersTo(round));
      const reply = await retry(conversation, stop, round, answersTo(round));
      if (reply.kind === 'silence')
        context.fail(`${nameOf(stop)} was sent twice and had ${describe(reply)}`, 'an answer');
      return `${nameOf(stop)}: the second retry had ${describe(reply)}`;
    },
  },
  {
    ...common,
    id: 'rounds/keeps-parallel-rounds-apart',
    title: 'Completes two rounds of the same request in any order',
    level: 'SHOULD',
    rules: [],
    reason: 'Clients send requests in parallel, and users answer in any order.',
    hint: 'Keep the state of each round separately.',
    async run(context) {
      const stop = askingStops(context)[0]!;
      const conversation = await context.abuseConversation();
      const first = await openRound(context, conversation, stop);
      const second = await openRound(context, conversation, stop);
      for (const [round, which] of [
        [second, 'second'],
        [first, 'first'],
      ] as const) {
        const reply = await retry(conversation, stop, round, answersTo(round));
        if (reply.kind !== 'result')
          context.fail(
            `${nameOf(stop)} was sent twice, and the second round was answered first; the ${which} had ${describe(reply)}`,
            'a result for both',
          );
      }
      return `${nameOf(stop)}: two rounds were answered in reverse order`;
    },
  },
];

const REFUSAL = 'an error, or a new round';

/** States that a careless decoder may not survive. */
const HOSTILE: readonly unknown[] = [
  '',
  'x',
  '\u0000\uffff',
  '{"__proto__":{"polluted":true}}',
  Buffer.from('{"user":"admin"}').toString('base64'),
  'eyJhbGciOiJub25lIn0.eyJ1c2VyIjoiYWRtaW4ifQ.',
  'A'.repeat(100_000),
  null,
  7,
  { state: true },
];

function shown(state: unknown): string {
  const text = JSON.stringify(state);
  return `the state ${text.length > 60 ? `${text.slice(0, 60)}…` : text}`;
}

function withState(context: CheckContext): readonly WalkthroughStop[] {
  const stops = askingStops(context).filter(({ reply }) => roundIn(reply)?.state !== undefined);
  if (stops.length === 0) context.skip('no round has a requestState');
  return stops;
}

/** Changes one letter inside of the state. In base64 this changes upper bits, which are always decoded. */
function withOtherLetter(state: string, share: number): string {
  const at = Math.floor(state.length * share);
  const letter = /[k-n]/.test(state[at] ?? '') ? '5' : 'm';
  return `${state.slice(0, at)}${letter}${state.slice(at + 1)}`;
}

/** The arguments with a changed string, for the same tool. */
function otherArguments(context: CheckContext, { method, params }: WalkthroughStop): JsonObject | undefined {
  if (method !== 'tools/call') return undefined;
  const tool = context.facts.callable.find(({ name }) => name === params['name']);
  const schema = tool?.tool['inputSchema'];
  const properties = isJsonObject(schema) && isJsonObject(schema['properties']) ? schema['properties'] : {};
  const name = Object.keys(properties).find((each) => {
    const property = properties[each];
    return isJsonObject(property) && property['type'] === 'string' && property['enum'] === undefined;
  });
  if (name === undefined) return undefined;
  return { ...(params['arguments'] as JsonObject | undefined), [name]: 'changed by isthmus-check' };
}
