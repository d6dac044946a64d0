import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import { stackTraceIn } from '../stack-traces.js';
import { type Answer, ask } from './client/answer.js';
import { modernRequest, openingRequest } from './client/requests.js';
import { forget, needAlive } from './client/session.js';

const about = {
  suite: 'http',
  over: ['http'],
  era: 'none',
  lane: 'own',
  level: 'SHOULD',
  rules: [],
} as const;

/** Basics of any web server: methods, paths, and error pages without internals. */
export const plainHttpChecks: readonly Check[] = [
  {
    ...about,
    id: 'http-plain/other-methods',
    title: 'Serves requests only with POST',
    reason: 'PUT and PATCH have no meaning here, and a server that serves them may bypass filters.',
    hint: 'Answer methods other than POST (and GET, DELETE, OPTIONS if supported) with HTTP 405.',
    async run(context) {
      for (const method of ['PUT', 'PATCH']) {
        const answer = await askBy(context, method);
        if (answer.status < 400 || answer.status === 500)
          context.fail(`${method} was answered with ${answer.said}`, 'HTTP 405');
      }
      return 'PUT and PATCH: refused';
    },
  },
  {
    ...about,
    id: 'http-plain/allow-with-405',
    title: 'Lists the allowed methods in a 405',
    reason: 'A 405 must have Allow (RFC 9110, 15.5.6).',
    hint: 'Set Allow: POST (and other supported methods) on answers with HTTP 405.',
    async run(context) {
      const { status, http, said } = await askBy(context, 'PUT');
      if (status !== 405) return context.skip(`PUT is answered with ${said}`);
      if (http?.headers['allow'] === undefined)
        context.fail('the answer with 405 has no Allow header', 'Allow: POST');
      return `Allow: ${http?.headers['allow']}`;
    },
  },
  {
    ...about,
    id: 'http-plain/head-and-options',
    title: 'Survives HEAD and OPTIONS',
    reason: 'Health checks send HEAD, and browsers send OPTIONS. Neither may cause a server error (5xx).',
    hint: 'Answer HEAD and OPTIONS with HTTP 405, or serve them.',
    async run(context) {
      const seen: string[] = [];
      for (const method of ['HEAD', 'OPTIONS']) {
        const answer = await ask(context, context.openHttp(), { method, headers: {} });
        answer.http?.close();
        if (answer.status === 0 || (answer.status >= 500 && answer.status !== 501))
          context.fail(`${method} was answered with ${answer.said}`, 'HTTP 405, or a valid answer');
        seen.push(`${method}: ${answer.status}`);
      }
      return seen.join(', ');
    },
  },
  {
    ...about,
    id: 'http-plain/trace-refused',
    title: 'Refuses TRACE',
    reason: 'TRACE returns the request with its credentials, which a foreign page may read.',
    hint: 'Answer TRACE with HTTP 405.',
    async run(context) {
      const answer = await ask(context, context.openHttp(), {
        method: 'TRACE',
        headers: { 'x-isthmus-check': 'secret-7' },
      });
      await answer.http?.whole(context.patience.answerMs);
      if (answer.status === 200 || answer.http?.text.includes('secret-7'))
        context.fail(`TRACE was answered with ${answer.said}`, 'HTTP 405');
      return `was answered with ${answer.said}`;
    },
  },
  {
    ...about,
    id: 'http-plain/unknown-path',
    title: 'Answers an unknown path with 404',
    reason: 'A client must learn that its URL is wrong.',
    hint: 'Answer other paths than the endpoint with HTTP 404.',
    async run(context) {
      const answer = await askElsewhere(context);
      await forget(context, answer.http?.headers['mcp-session-id']);
      if (answer.status !== 404 && answer.status !== 401 && answer.status !== 403)
        context.fail(`a POST to ${elsewhere(context).pathname} was answered with ${answer.said}`, 'HTTP 404');
      return `was answered with ${answer.said}`;
    },
  },
  {
    ...about,
    id: 'http-plain/no-stack-traces',
    title: 'Keeps stack traces and file names out of its error pages',
    reason: 'A stack trace reveals internals, and does not help clients.',
    hint: 'Answer with a JSON-RPC error of one sentence, and log the stack. Web frameworks often need NODE_ENV=production for that.',
    async run(context) {
      const { headers } = openingRequest(context);
      const answers = [
        await ask(context, context.openHttp(), { body: '{"jsonrpc":', headers }),
        await ask(context, context.openHttp(), {
          body: '[',
          headers: { ...headers, 'content-type': 'text/plain' },
        }),
        await askElsewhere(context),
        await ask(context, context.openHttp(), { method: 'DELETE', headers: { 'mcp-session-id': '%' } }),
      ];
      for (const { http, said } of answers) {
        const found = stackTraceIn(http?.text ?? '');
        if (found !== undefined)
          context.fail(
            `the answer with ${said.split(' ', 2).join(' ')} has ${JSON.stringify(found)}`,
            'no stack trace in the body',
          );
      }
      return `${answers.length} error pages without a stack trace`;
    },
  },
  {
    ...about,
    id: 'http-plain/no-header-injection',
    title: 'Does not allow header injection',
    reason: 'A line break that is copied from the request into a header of the answer adds headers to it.',
    hint: 'Do not copy values of a request into headers of the answer. If you must, refuse control characters after decoding.',
    async run(context) {
      const line = '\r\nx-isthmus-injected: 1';
      const encoded = encodeURIComponent(line);
      const { body, headers } = openingRequest(context);
      const sentinel = `=?base64?${Buffer.from(`x${line}`).toString('base64')}?=`;
      const url = new URL(elsewhere(context));
      url.search = `?next=${encoded}`;
      const places = [
        { headers: { ...headers, 'mcp-session-id': `x${encoded}` } },
        { headers: { ...headers, 'mcp-name': sentinel, 'mcp-method': sentinel } },
        { headers: { ...headers, origin: `http://localhost${encoded}` } },
        { headers, url },
        { headers: { ...headers, 'mcp-protocol-version': `x${encoded}` } },
      ];
      for (const place of places) {
        const { http } = await ask(context, context.openHttp(), { body, ...place });
        await forget(context, http?.headers['mcp-session-id']);
        if (http?.headers['x-isthmus-injected'] !== undefined)
          context.fail('the answer has an injected header', 'no injected header');
      }
      return `${places.length} attempts, and no answer has such a header`;
    },
  },
  {
    ...about,
    id: 'http-plain/header-flood',
    title: 'Serves or refuses a request with 2,000 headers, and continues',
    reason: 'A server must limit the header section, and answer a longer one with 431 or 400.',
    hint: 'Limit the header section, and answer a longer one with HTTP 431.',
    async run(context) {
      const { body, headers } = openingRequest(context);
      const many = Object.fromEntries(
        Array.from({ length: 2000 }, (_, each) => [`x-isthmus-${each}`, 'y'.repeat(32)]),
      );
      const answer = await ask(context, context.openHttp(), { body, headers: { ...many, ...headers } });
      await forget(context, answer.http?.headers['mcp-session-id']);
      if (answer.status >= 500) context.fail(`it was answered with ${answer.said}`, 'HTTP 431, 400 or 200');
      await needAlive(context, '2,000 headers');
      return `${answer.said}, and others are served`;
    },
  },
];

async function askBy(context: CheckContext, method: string): Promise<Answer> {
  const { body, headers } = context.era === 'modern' ? modernRequest(context) : openingRequest(context);
  const answer = await ask(context, context.openHttp(), { method, body, headers });
  await forget(context, answer.http?.headers['mcp-session-id']);
  return answer;
}

function elsewhere({ target }: CheckContext): URL {
  const url = new URL(target.transport === 'http' ? target.url : 'http://nowhere');
  url.pathname = `${url.pathname.replace(/\/$/, '')}-isthmus-check-no-such-path`;
  return url;
}

function askElsewhere(context: CheckContext): Promise<Answer> {
  const { body, headers } = openingRequest(context);
  return ask(context, context.openHttp(), { body, headers, url: elsewhere(context) });
}
