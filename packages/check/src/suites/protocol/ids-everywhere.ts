import type { JsonObject, RequestId } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import { type Frame, membersOf } from '../../wire/transcript.js';
import { harmless } from './answers.js';
import { evidence } from './exchanges.js';
import { answerUnderAnyId } from './ids.js';
import { listsOf } from './lists.js';

/** Ids of every kind in every method: a server may treat them well in one handler and not in the next. */
export const idsEverywhereChecks: readonly Check[] = [
  {
    id: 'ids/every-method',
    suite: 'protocol',
    title: 'Answers every method under the very id of the request, whatever its kind',
    level: 'MUST',
    rules: ['JRPC-006', 'JRPC-009'],
    lane: 'own',
    hint: 'Echo the id in one place, for results and errors of all methods: do not convert it.',
    async run(table) {
      const talk = await table.openTalk();
      const asked = askable(table);
      let count = 0;
      for (const { method, params } of asked) {
        for (const id of idsFor(++count)) {
          const from = talk.transcript.frames.length;
          const pending = talk.start(method, params, { id });
          const frame = await answerUnderAnyId(table, talk, pending, from, isAnswer);
          const echoed = frame && membersOf(frame)['id'];
          // Silence is what other checks are about.
          if (!frame || echoed === id) continue;
          table.fail(
            `${method} with the id ${JSON.stringify(id)} was answered under ${JSON.stringify(echoed) ?? 'no id'}`,
            `the id ${JSON.stringify(id)}`,
            evidence(frame),
          );
        }
      }
      return `${asked.map(({ method }) => method).join(', ')}: strings of digits, other strings and large numbers came back`;
    },
  },
];

interface Asked {
  readonly method: string;
  readonly params: JsonObject;
}

/** Harmless requests of as many methods as the server has, and some that it refuses. */
function askable(table: CheckContext): readonly Asked[] {
  const served = ['resources/read', 'prompts/get', 'tools/call'].flatMap((method): Asked[] => {
    const [quickest] = table.facts.tour
      .filter((stop) => stop.method === method && stop.reply.kind === 'result' && stop.questions.length === 0)
      .filter(({ reply }) => reply.kind === 'result' && reply.result['resultType'] !== 'input_required')
      .sort((one, other) => one.reply.ms - other.reply.ms);
    return quickest && quickest.reply.ms < MOST_MS ? [{ method, params: quickest.params }] : [];
  });
  return [
    { method: harmless(table), params: {} },
    ...listsOf(table)
      .filter(({ method }) => !table.facts.failedLists.some((list) => list.method === method))
      .map(({ method }) => ({ method, params: {} })),
    ...served,
    { method: 'isthmus-check/unknown', params: {} },
    ...(table.facts.capabilities['tools'] === undefined
      ? []
      : [{ method: 'tools/call', params: { name: 'isthmus_check_no_such_tool', arguments: {} } }]),
  ];
}

/** Ids that no other request of the connection has. */
function idsFor(count: number): readonly RequestId[] {
  return [String(470_000 + count), `isthmus-check-${count}`, 2 ** 40 + count];
}

const MOST_MS = 500;

function isAnswer(frame: Frame): boolean {
  return frame.kind === 'result' || frame.kind === 'error';
}
