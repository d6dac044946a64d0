import type { Check } from '../../model.js';
import { ask, isRefused, needServed } from './client/answer.js';
import { modernRequest } from './client/requests.js';
import { openBodyPoster, openSession } from './client/session.js';

const about = { suite: 'http', over: ['http'], lane: 'own' } as const;

/** Several clients at once, of either era, and the Accept header. */
export const sideBySideChecks: readonly Check[] = [
  {
    ...about,
    id: 'http-clients/concurrent',
    title: 'Answers simultaneous requests, each with its own response',
    level: 'MUST',
    rules: ['JRPC-006', 'STATE-002'],
    hint: 'Answer each request on its own connection.',
    async run(context) {
      const ids = Array.from({ length: 12 }, (_, each) => `at-once-${each}`);
      const session = context.era === 'legacy' ? await openSession(context) : undefined;
      const shared = context.openHttp();
      const answers = await Promise.all(
        ids.map((id, at) => {
          if (session) return session.post({ jsonrpc: '2.0', id, method: 'ping' });
          const peer = at % 2 === 0 ? shared : context.openHttp();
          return ask(context, peer, modernRequest(context, 'server/discover', {}, { id }));
        }),
      );
      for (const [at, answer] of answers.entries()) {
        if (!answer.result || answer.response?.id !== ids[at])
          context.fail(
            `of ${ids.length} requests at once, ${ids[at]} was answered with ${answer.said}${answer.response ? ` for id ${String(answer.response.id)}` : ''}`,
            'its own response',
          );
      }
      return `${ids.length} requests at once: each got its own response`;
    },
  },
  {
    ...about,
    id: 'http-clients/eras-apart',
    title: 'Serves a modern request with the id of a legacy session, and does not change the session',
    era: 'none',
    level: 'MUST',
    rules: ['VER-006', 'SESS-013'],
    hint: 'Determine the era of each request by its content. An initialize affects only its own session.',
    async run(context) {
      if (!context.factsOf('modern') || !context.factsOf('legacy'))
        return context.skip('the server supports only one era');
      const session = await openSession(context);
      for (let round = 0; round < 3; round++) {
        const { body, headers } = modernRequest(context, 'server/discover', {}, { id: `modern-${round}` });
        const [modern, legacy] = await Promise.all([
          ask(context, context.openHttp(), {
            body,
            headers: { ...headers, ...(session.id !== undefined && { 'mcp-session-id': session.id }) },
          }),
          session.post({ jsonrpc: '2.0', id: `legacy-${round}`, method: 'ping' }),
        ]);
        const result = needServed(context, modern, 'server/discover during a legacy session');
        if (result['resultType'] !== 'complete')
          context.fail('the result of server/discover has no resultType during a legacy session', 'complete');
        const given = modern.http?.headers['mcp-session-id'];
        if (given !== undefined)
          context.fail(`server/discover was answered with Mcp-Session-Id: ${String(given)}`, 'no session id');
        if (!legacy.result)
          context.fail(`during modern requests, ping was answered with ${legacy.said}`, 'HTTP 200');
        if (legacy.result?.['resultType'] !== undefined)
          context.fail(
            'the result of ping in a legacy session has a resultType',
            'the shape of the legacy era',
          );
      }
      return 'a legacy session and modern requests were served at the same time';
    },
  },
  {
    ...about,
    id: 'http-clients/accept-spellings',
    title: 'Parses Accept as HTTP defines it: any order, any case, with weights',
    level: 'SHOULD',
    rules: [],
    reason:
      'Accept is an unordered, case-insensitive list of media types with parameters (RFC 9110, 12.5.1).',
    hint: 'Parse Accept as a list, and ignore parameters and case.',
    async run(context) {
      const spellings = [
        'text/event-stream, application/json',
        'application/json;q=1.0,text/event-stream;q=0.9',
        'Application/JSON, Text/Event-Stream, */*;q=0.1',
      ];
      const poster = await openBodyPoster(context);
      for (const accept of spellings) {
        const answer = await poster.post(poster.body, { accept });
        needServed(context, answer, `Accept: ${accept}`);
      }
      return `${spellings.length} spellings: served`;
    },
  },
  {
    ...about,
    id: 'http-clients/not-accepted',
    title: 'Sends no event stream to a client that accepts only JSON',
    level: 'SHOULD',
    rules: [],
    reason: 'A client that cannot read events should get JSON or a 406, not a stream.',
    hint: 'Answer Accept: application/json with JSON or with HTTP 406.',
    async run(context) {
      const poster = await openBodyPoster(context);
      const answer = await poster.post(poster.body, { accept: 'application/json' });
      if (answer.http?.isStream || (answer.status !== 200 && !isRefused(answer)))
        context.fail(
          `Accept: application/json was answered with ${answer.said}${answer.http?.isStream ? ', as an event stream' : ''}`,
          'JSON, or HTTP 406',
        );
      return `was answered with ${answer.said}`;
    },
  },
];
