import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { aliveMethod, type CheckConversation } from '../../conversation/conversation.js';
import type { Check } from '../../model.js';
import { causeIn, causeInFrame } from '../../run/failure-cause.js';
import type { Frame } from '../../wire/transcript.js';
import {
  answers,
  type BadInput,
  codeOf,
  harmless,
  inShort,
  isLooseError,
  line,
  newId,
  requestOf,
  sendAndExpectAlive,
  survives,
} from './bad-input.js';

const common = {
  suite: 'resilience',
  level: 'SHOULD',
  over: ['command', 'socket'],
  lane: 'abuse',
} as const satisfies Partial<Check>;

/** Well-formed messages with unusual members. */
export const memberChecks: readonly Check[] = [
  {
    ...common,
    id: 'members/unknown-meta',
    title: 'Serves a request with unknown keys in _meta',
    level: 'MUST',
    rules: ['META-014'],
    over: ['command', 'socket', 'http'],
    lane: 'shared',
    hint: 'Ignore unknown keys in _meta.',
    async run(context) {
      const conversation = await context.conversation();
      if (conversation.revision < '2025-06-18')
        return context.skip(`${conversation.revision} has no such rule`);
      const meta = { 'com.example/mark': [1, null, { deep: true }], 'io.modelcontextprotocol/unheard-of': 7 };
      const method = aliveMethod(conversation);
      const reply = await conversation.request(method, {}, { meta });
      if (reply.kind === 'result') return `${method} with two unknown keys in _meta had a result`;
      const seen = reply.kind === 'error' ? `error ${reply.error.code}: ${reply.error.message}` : reply.why;
      return context.fail(`${method} with unknown keys in _meta had no result: ${seen}`, 'the usual result');
    },
  },
  {
    ...common,
    id: 'members/unknown-params',
    title: 'Serves a request with unknown params',
    rules: [],
    reason: 'Later revisions add members, and older servers must work with newer clients.',
    over: ['command', 'socket', 'http'],
    lane: 'shared',
    hint: 'Ignore unknown members of params. Do not refuse the request.',
    async run(context) {
      const conversation = await context.conversation();
      const method =
        conversation.capabilities['tools'] === undefined ? aliveMethod(conversation) : 'tools/list';
      const reply = await conversation.request(method, { unheardOf: { nested: [1, 2] }, anotherOne: null });
      if (reply.kind === 'result') return `${method} with two unknown params had a result`;
      const seen = reply.kind === 'error' ? `error ${reply.error.code}: ${reply.error.message}` : reply.why;
      return context.fail(
        `${method} with unknown params had no result: ${seen}`,
        'the usual result',
        causeIn(reply),
      );
    },
  },
  {
    ...common,
    id: 'members/duplicate-keys',
    title: 'Answers a request with a duplicate member at most once, and continues',
    rules: [],
    reason: 'JSON does not define which of two equal keys counts, and two answers would settle two calls.',
    hint: 'Parse the message once, with one parser, and dispatch it once.',
    async run(context) {
      const conversation = await context.abuseConversation();
      const [first, second] = [`${newId(conversation)}-a`, `${newId(conversation)}-b`];
      const plain = JSON.stringify(harmless(conversation, second));
      const text = plain.replace('{', `{"id":${JSON.stringify(first)},`);
      const isOwn = (frame: Frame) => answers(first)(frame) || answers(second)(frame) || isLooseError(frame);
      const said = await sendAndExpectAlive(context, conversation, line('a request with two ids', text), {
        listens: true,
      });
      const own = said.filter(isOwn);
      if (own.length > 1) context.fail(`a request with two ids had ${own.length} answers`, 'one at most');
      return own[0] ? `was answered once: ${inShort(own[0])}` : 'was not answered';
    },
  },
  {
    ...common,
    id: 'members/inherited-names',
    title: 'Treats a method or tool with the name of a built-in property as unknown',
    rules: ['ERR-014', 'ERR-017'],
    hint: 'Look up handlers in a Map or with Object.hasOwn: every plain object has constructor, toString and __proto__.',
    async run(context) {
      const conversation = await context.abuseConversation();
      for (const method of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '']) {
        const id = newId(conversation);
        const text = JSON.stringify(requestOf(conversation, id, method));
        const what = `the method ${JSON.stringify(method)}`;
        const said = await sendAndExpectAlive(context, conversation, line(what, text), {
          until: answers(id),
        });
        const answer = said.find(answers(id)) ?? said.find(isLooseError);
        if (answer?.kind !== 'error')
          context.fail(
            `${what} ${answer ? `got ${inShort(answer)}` : 'was not answered'}`,
            'an error -32601',
            causeInFrame(answer),
          );
        if (![-32601, -32600, -32602].includes(Number(codeOf(answer!))))
          context.fail(`${what} got ${inShort(answer!)}`, 'an error -32601', causeInFrame(answer));
      }
      const names = ['__proto__', 'constructor', 'toString'].filter(
        (name) => !context.facts.tools.some((tool) => tool['name'] === name),
      );
      for (const name of conversation.capabilities['tools'] === undefined ? [] : names) {
        const reply = await conversation.request('tools/call', { name, arguments: {} });
        const refused =
          reply.kind === 'error' || (reply.kind === 'result' && reply.result['isError'] === true);
        const code = reply.kind === 'error' ? reply.error.code : undefined;
        if (!refused || code === -32603) {
          const seen = reply.frame ? inShort(reply.frame) : 'no answer';
          context.fail(
            `a call of the tool ${name}, which does not exist, got ${seen}`,
            'an error -32602',
            causeInFrame(reply.frame),
          );
        }
      }
      return 'all were treated as unknown';
    },
  },
  {
    ...common,
    id: 'members/prototype-keys',
    title: 'Is not affected by keys like __proto__ in params',
    rules: [],
    reason: 'A key that changes the prototype of all objects affects every later request.',
    hint: 'Do not merge input of a client into your own objects. Copy the members that you know.',
    async run(context) {
      const conversation = await context.abuseConversation();
      const method = aliveMethod(conversation);
      const before = await conversation.request(method);
      const evil = '{"polluted":true,"error":{"code":1,"message":"polluted"},"isError":true}';
      const poison = `"__proto__":${evil},"constructor":{"prototype":${evil}},`;
      const id = newId(conversation);
      const plain = JSON.stringify(requestOf(conversation, id, 'no/such/method', { _meta: { a: 1 } }));
      const text = plain
        .replace('"params":{', `"params":{${poison}`)
        .replace('"_meta":{', `"_meta":{${poison}`);
      await sendAndExpectAlive(context, conversation, line('params with __proto__', text));
      const after = await conversation.request(method);
      const [was, is] = [before, after].map((reply) => withoutId(reply.frame?.json));
      if (was !== is) context.fail(`${method} answered ${was} before and ${is} after`, 'the same answer');
      return 'the next answer was the same as before';
    },
  },
  survives(
    {
      id: 'members/survives-deep-nesting',
      title: 'Continues after deeply nested params',
      hint: 'Limit the depth, or catch the stack overflow and answer with an error.',
      level: 'SHOULD',
      era: 'each',
    },
    (conversation) => [
      nested(conversation, 1000),
      nested(conversation, 10_000),
      nested(conversation, 100_000),
      line('100000 open brackets', '['.repeat(100_000)),
    ],
  ),
  survives(
    {
      id: 'members/survives-numbers',
      title: 'Continues after numbers that do not fit into 64 bits',
      hint: 'Accept the value that the JSON parser returns, or answer with an error.',
      level: 'SHOULD',
    },
    (conversation) =>
      ['1e400', '-1e400', '123456789012345678901234567890', '1e-400', '-0', '0.1e1'].map((text) => {
        const plain = JSON.stringify(
          requestOf(conversation, newId(conversation), 'no/such/method', { value: 'NUMBER' }),
        );
        return line(`the number ${text}`, plain.replace('"NUMBER"', text));
      }),
  ),
  survives(
    {
      id: 'members/survives-huge-ids',
      title: 'Continues after ids that do not fit into 64 bits, and very long ids',
      hint: 'Answer -32600 to an id that cannot be represented exactly.',
      level: 'SHOULD',
    },
    (conversation) =>
      ['1e400', '18446744073709551616', '9007199254740993', `"${'x'.repeat(100_000)}"`].map((text) => {
        const plain = JSON.stringify(harmless(conversation, 'ID')).replace('"ID"', text);
        return line(text.length > 40 ? 'an id of 100000 characters' : `the id ${text}`, plain);
      }),
  ),
  survives(
    {
      id: 'members/survives-long-method',
      title: 'Continues after a method with a very long name',
      hint: 'Answer -32601. Shorten the name in messages and logs.',
      level: 'SHOULD',
    },
    (conversation) => [
      line(
        'a method of 1 MiB',
        JSON.stringify(requestOf(conversation, newId(conversation), `x/${'y'.repeat(1024 * 1024)}`)),
      ),
    ],
  ),
];

function nested(conversation: CheckConversation, levels: number): BadInput {
  const plain = JSON.stringify(
    requestOf(conversation, newId(conversation), 'no/such/method', { deep: 'DEEP' }),
  );
  const deep = '{"a":'.repeat(levels) + '1'.padEnd(levels + 1, '}');
  return line(
    `params of ${levels} levels`,
    plain.replace('"DEEP"', () => deep),
  );
}

function withoutId(json: unknown): string {
  const { id: _id, ...rest } = (json ?? {}) as JsonObject;
  return JSON.stringify(rest);
}
