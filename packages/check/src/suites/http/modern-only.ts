import type { Check } from '../../model.js';
import { ask, needServed } from './client/answer.js';
import { modernRequest } from './client/requests.js';

const about = { suite: 'http', era: 'modern', over: ['http'], lane: 'own', level: 'SHOULD' } as const;

/** Features that the modern era has removed: sessions, GET and DELETE, resumption. */
export const modernOnlyChecks: readonly Check[] = [
  {
    ...about,
    id: 'http-modern/no-session',
    title: 'Sends no Mcp-Session-Id in the modern era',
    level: 'MUST',
    rules: ['SESS-013'],
    hint: 'Do not start a session for modern requests, and leave Mcp-Session-Id out of their answers.',
    async run(context) {
      const peer = context.openHttp();
      for (const request of [modernRequest(context), modernRequest(context, 'tools/list')]) {
        const answer = await ask(context, peer, request);
        const id = answer.http?.headers['mcp-session-id'];
        if (id !== undefined) {
          context.fail(
            `the answer to ${request.body.method} has Mcp-Session-Id: ${String(id)}`,
            'no session id',
          );
        }
      }
      return 'no answer has Mcp-Session-Id';
    },
  },
  {
    ...about,
    id: 'http-modern/session-ignored',
    title: 'Ignores an Mcp-Session-Id on a modern request',
    rules: ['HTTP-070'],
    hint: 'Ignore the Mcp-Session-Id of modern requests, and do not return it.',
    async run(context) {
      const { body, headers } = modernRequest(context);
      const sent = 'isthmus-check-no-session';
      const answer = await ask(context, context.openHttp(), {
        body,
        headers: { ...headers, 'mcp-session-id': sent },
      });
      needServed(context, answer, `server/discover with Mcp-Session-Id: ${sent}`);
      const back = answer.http?.headers['mcp-session-id'];
      if (back !== undefined)
        context.fail(`the answer has Mcp-Session-Id: ${String(back)}`, 'no session id in the answer');
      return 'served, without a session id in the answer';
    },
  },
  {
    ...about,
    id: 'http-modern/last-event-id-ignored',
    title: 'Ignores Last-Event-ID on a modern request',
    rules: ['HTTP-071'],
    hint: 'Ignore the Last-Event-ID of modern requests.',
    async run(context) {
      const { body, headers } = modernRequest(context);
      const answer = await ask(context, context.openHttp(), {
        body,
        headers: { ...headers, 'last-event-id': '41' },
      });
      needServed(context, answer, 'server/discover with Last-Event-ID: 41');
      return 'served';
    },
  },
  {
    ...about,
    id: 'http-modern/get-and-delete',
    title: 'Answers GET and DELETE with 405 if it supports only the modern era',
    rules: ['HTTP-069'],
    hint: 'Answer GET and DELETE at the endpoint with HTTP 405 and Allow: POST.',
    async run(context) {
      if (context.factsOf('legacy'))
        return context.skip('the server also supports the legacy era, which has them');
      if (!context.verdicts.some(({ era }) => era === 'legacy')) {
        return context.skip('it is not known whether the server supports the legacy era, which has them');
      }
      for (const method of ['GET', 'DELETE']) {
        const answer = await ask(context, context.openHttp(), {
          method,
          headers: { accept: 'text/event-stream', 'mcp-protocol-version': context.revision },
        });
        if (answer.status !== 405) context.fail(`${method} was answered with ${answer.said}`, 'HTTP 405');
      }
      return 'GET and DELETE: 405';
    },
  },
  {
    ...about,
    id: 'http-modern/initialize-refused',
    title: 'Refuses initialize with 400 if it supports only the modern era',
    level: 'MUST',
    rules: ['VER-026'],
    hint: 'Answer POSTs without the modern headers with HTTP 400. For initialize, name the supported versions.',
    async run(context) {
      if (context.factsOf('legacy')) return context.skip('the server also supports the legacy era');
      const verdict = context.verdicts.find(({ era }) => era === 'legacy');
      if (!verdict || verdict.speaks) return context.skip('initialize was not sent');
      const status = verdict.reply?.http?.status;
      if (status === undefined)
        return context.skip(`there was no answer to initialize to judge: ${verdict.why}`);
      if (status !== 400)
        context.fail(`initialize was answered with HTTP ${status} (${verdict.why})`, 'HTTP 400');
      return 'initialize was answered with HTTP 400';
    },
  },
];
