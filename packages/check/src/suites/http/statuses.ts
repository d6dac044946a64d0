import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import { type Answer, ask, needRefusal, needServed } from './client/answer.js';
import { modernRequest } from './client/requests.js';
import { openSession } from './client/session.js';

const METHOD_NOT_FOUND = -32601;
const MISSING_CAPABILITY = -32021;

const about = { suite: 'http', over: ['http'], lane: 'own', level: 'MUST' } as const;

/** The status and content type of answers. */
export const statusChecks: readonly Check[] = [
  {
    ...about,
    id: 'http-status/unknown-method',
    title: 'Answers an unknown method with 404 and -32601',
    era: 'modern',
    rules: ['ERR-016'],
    hint: 'Answer unknown methods with HTTP 404 and a JSON-RPC error -32601 in the body.',
    async run(context) {
      for (const method of ['isthmus-check/unknown', 'ping']) {
        const answer = await ask(context, context.openHttp(), modernRequest(context, method));
        needRefusal(context, answer, method, { status: [404], codes: [METHOD_NOT_FOUND] });
      }
      return 'isthmus-check/unknown and ping: 404 and -32601';
    },
  },
  {
    ...about,
    id: 'http-status/missing-capability',
    title: 'Sends -32021 (missing client capability) with 400',
    era: 'modern',
    rules: ['META-009'],
    hint: 'Use the HTTP status 400 for error -32021.',
    async run(context) {
      const peer = context.openHttp();
      const until = context.clock.now() + 2 * context.patience.answerMs;
      for (const { name, args } of context.facts.callable) {
        if (context.clock.now() > until) break;
        const params = { name, arguments: args };
        const request = modernRequest(context, 'tools/call', params, { capabilities: {} });
        const answer = await ask(context, peer, {
          ...request,
          ms: Math.min(1000, context.patience.answerMs),
        });
        answer.http?.close();
        if (answer.code !== MISSING_CAPABILITY) continue;
        if (answer.http?.isStream)
          return `${name} was answered with -32021 in a stream that had already begun`;
        needRefusal(context, answer, `${name} without client capabilities`, {});
        return `${name} without client capabilities was answered with ${answer.said}`;
      }
      return context.skip('no tool that may be called needs a capability of the client');
    },
  },
  {
    ...about,
    id: 'http-status/one-endpoint',
    title: 'Serves every method at one endpoint',
    era: 'modern',
    rules: ['HTTP-001'],
    hint: 'Accept POST for all methods at one path.',
    async run(context) {
      const lists = ['tools', 'resources', 'prompts'].filter(
        (each) => context.facts.capabilities[each] !== undefined,
      );
      const methods = ['server/discover', ...lists.map((each) => `${each}/list`)];
      for (const method of methods) {
        const answer = await ask(context, context.openHttp(), modernRequest(context, method));
        needServed(context, answer, `POST of ${method}`);
      }
      return `${methods.join(', ')}: served at ${context.target.label}`;
    },
  },
  {
    ...about,
    id: 'http-status/json-or-events',
    title: 'Answers a request as application/json or as text/event-stream',
    lane: 'shared',
    rules: ['HTTP-013', 'LHTTP-005'],
    hint: 'Set Content-Type: application/json for one JSON-RPC response, text/event-stream for a stream of events.',
    async run(context) {
      const conversation = await context.conversation();
      const method = context.era === 'modern' ? 'server/discover' : 'ping';
      const replies = [
        { method, reply: await conversation.request(method) },
        ...context.facts.walkthrough.map(({ method: each, reply }) => ({ method: each, reply })),
      ];
      const answered = replies.flatMap(({ method: each, reply }) =>
        reply.http ? [{ each, http: reply.http }] : [],
      );
      for (const { each, http } of answered) {
        const { contentType, status } = http;
        if (contentType === 'application/json' || contentType === 'text/event-stream') continue;
        context.fail(
          `${each} was answered with HTTP ${status} and ${contentType === '' ? 'no content type' : contentType}`,
          'application/json or text/event-stream',
        );
      }
      const streams = answered.filter(({ http }) => http.isStream).length;
      return `of ${answered.length} answers, ${streams} were streams and the others JSON`;
    },
  },
  {
    ...about,
    id: 'http-status/refusal-names-request',
    title: 'Returns the id of a request in the error that refuses it',
    rules: ['JRPC-009', 'JRPC-006'],
    hint: 'Copy the id of the request, with its type, into the JSON-RPC error of a refusal.',
    async run(context) {
      const id = 'isthmus-check-7';
      const answer = await refusedRequest(context, id);
      if (!answer.response) {
        return context.fail(
          `it was answered with ${answer.said}`,
          'a JSON-RPC error with the id of the request',
        );
      }
      if (answer.response.id !== id) {
        context.fail(
          `the request had id ${JSON.stringify(id)}, the error has ${JSON.stringify(answer.response.id) ?? 'none'}`,
          'the same id',
        );
      }
      return `${answer.said}, with the id of the request`;
    },
  },
  {
    ...about,
    id: 'http-status/notification-accepted',
    title: 'Answers a notification with 202 and no body, or refuses it with an HTTP error',
    rules: ['HTTP-011', 'HTTP-012', 'LHTTP-003', 'LHTTP-004', 'JRPC-012'],
    hint: 'Answer an accepted notification with HTTP 202 and an empty body, and a refused one with a 4xx status.',
    async run(context) {
      const answer = await postNotification(context, {
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId: 'isthmus-check-none', reason: 'nothing to cancel' },
      });
      const { status, http } = answer;
      const body = http?.text ?? '';
      if (status === 202 && body === '') return '202 without a body';
      if (status >= 400 && status < 500) return `refused: ${answer.said}`;
      return context.fail(
        `notifications/cancelled was answered with ${answer.said}`,
        'HTTP 202 without a body, or a 4xx status',
      );
    },
  },
  {
    ...about,
    id: 'http-status/malformed-notification',
    title: 'Refuses a malformed notification with an HTTP error',
    rules: ['HTTP-012', 'LHTTP-004'],
    hint: 'Answer a notification whose method is not a string with HTTP 400.',
    async run(context) {
      const answer = await postNotification(context, { jsonrpc: '2.0', method: 7 });
      if (answer.status < 400 || answer.status >= 500) {
        context.fail(`a notification with method 7 was answered with ${answer.said}`, 'a 4xx status');
      }
      return `was answered with ${answer.said}`;
    },
  },
];

/** A request that a correct server refuses. */
async function refusedRequest(context: CheckContext, id: string): Promise<Answer> {
  const method = 'isthmus-check/unknown';
  if (context.era === 'modern')
    return ask(context, context.openHttp(), modernRequest(context, method, {}, { id }));
  return (await openSession(context)).post({ jsonrpc: '2.0', id, method });
}

async function postNotification(
  context: CheckContext,
  body: Readonly<Record<string, unknown>>,
): Promise<Answer> {
  if (context.era === 'legacy') return settled(context, await (await openSession(context)).post(body));
  const { headers } = modernRequest(context);
  const answer = await ask(context, context.openHttp(), {
    body,
    headers: { ...headers, 'mcp-method': String(body['method']) },
  });
  return settled(context, answer);
}

/** Waits for the whole body. */
async function settled(context: CheckContext, answer: Answer): Promise<Answer> {
  await answer.http?.whole(context.patience.answerMs);
  return answer;
}
