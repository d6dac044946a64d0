import { messageOf } from '@isthmus/sdk/internal/errors.js';
import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import type { WalkthroughStop } from '../../survey/facts.js';
import { describeStop, reportingCall } from './asking/calls.js';
import { openSession, type RawSession } from './asking/session.js';

const about = { suite: 'http', era: 'legacy', over: ['http'], lane: 'own', level: 'MUST' } as const;

/** Headers, GET and streams of the legacy era. */
export const legacyHttpChecks: readonly Check[] = [
  {
    ...about,
    id: 'http-legacy/version-invalid',
    title: 'Answers an unsupported MCP-Protocol-Version with 400',
    rules: ['LHTTP-026'],
    hint: 'Check MCP-Protocol-Version on every request of a session and answer versions that are not spoken with HTTP 400.',
    async run(table) {
      needSince(table, '2025-06-18', 'the header');
      const session = await openSession(table);
      for (const version of ['1900-01-01', 'hello']) {
        const answer = await session.post(PING, { 'mcp-protocol-version': version });
        if (answer.status !== 400)
          table.fail(
            `ping with MCP-Protocol-Version: ${version} was answered with ${answer.said}`,
            'HTTP 400',
          );
      }
      return '1900-01-01 and hello: 400';
    },
  },
  {
    ...about,
    id: 'http-legacy/version-missing',
    title: 'Serves a session without MCP-Protocol-Version',
    level: 'SHOULD',
    rules: ['LHTTP-025'],
    hint: 'Take the version from the session, or 2025-03-26, where MCP-Protocol-Version is missing.',
    async run(table) {
      needSince(table, '2025-06-18', 'the header');
      const session = await openSession(table);
      const answer = await session.post(PING, { 'mcp-protocol-version': undefined });
      if (!answer.result)
        table.fail(`ping without MCP-Protocol-Version was answered with ${answer.said}`, 'HTTP 200');
      return 'served';
    },
  },
  {
    ...about,
    id: 'http-legacy/get',
    title: 'Answers GET with a stream of events or with 405',
    rules: ['LHTTP-001', 'LHTTP-016'],
    hint: 'Answer GET with text/event-stream, and send the headers at once, or with HTTP 405.',
    async run(table) {
      const session = await openSession(table);
      try {
        const http = await session.get();
        http.close();
        if (http.status === 405) return '405';
        if (http.status === 200 && http.isStream) return 'a stream of events';
        return table.fail(
          `GET was answered with HTTP ${http.status} and ${http.contentType || 'no content type'}`,
          'text/event-stream, or HTTP 405',
        );
      } catch (error) {
        if (error instanceof Error && error.name === 'Failed') throw error;
        return table.fail(`GET had no answer: ${messageOf(error)}`, 'text/event-stream, or HTTP 405');
      }
    },
  },
  {
    ...about,
    id: 'http-legacy/get-without-accept',
    title: 'Opens no stream for a GET that does not accept events',
    level: 'SHOULD',
    rules: [],
    reason: 'A browser or a health check that asks for a page must not hang on a stream that it cannot read.',
    hint: 'Answer a GET whose Accept does not list text/event-stream with HTTP 406.',
    async run(table) {
      const session = await openSession(table);
      const http = await session.get({ accept: 'text/html' }).catch(() => undefined);
      http?.close();
      if (!http || (http.status === 200 && http.isStream))
        table.fail(
          `GET with Accept: text/html ${http ? 'opens a stream of events' : 'had no answer'}`,
          'HTTP 406 or 405',
        );
      return `was answered with HTTP ${http?.status}`;
    },
  },
  {
    ...about,
    id: 'http-legacy/responses-where-asked',
    title: 'Sends responses on the stream of their request, and nowhere else',
    rules: ['LHTTP-006', 'LHTTP-017', 'LHTTP-019'],
    hint: 'Write the response to the answer of the POST that asked; a standing GET stream carries no responses, and no message goes to two streams.',
    async run(table) {
      const session = await openSession(table);
      const streams = [];
      for (let count = 0; count < 2; count++) streams.push(await session.get().catch(() => undefined));
      const ids = Array.from({ length: 6 }, (_, each) => `here-${each}`);
      const answers = await Promise.all(ids.map((id) => session.post({ ...PING, id })));
      for (const [at, answer] of answers.entries()) {
        if (answer.response?.id !== ids[at])
          table.fail(
            `the POST of ${ids[at]} was answered with ${answer.said}${answer.response ? ` for ${answer.response.id}` : ''}`,
            'its own response',
          );
      }
      await table.pause(table.patience.quietMs);
      const stray = streams.flatMap((http) => http?.frames ?? []).find(({ kind }) => kind === 'result');
      if (stray) table.fail(`the standing stream has ${stray.text.slice(0, 120)}`, 'no responses');
      return `${ids.length} responses, each on its own POST`;
    },
  },
  {
    ...about,
    id: 'http-legacy/one-stream-each',
    title: 'Sends each message on one stream only',
    rules: ['LHTTP-019'],
    hint: 'Choose one stream for each message; do not broadcast to the POST stream and to the standing ones.',
    async run(table) {
      const call = reportingCall(table);
      const session = await openSession(table);
      for (let count = 0; count < 2; count++) await session.get().catch(() => undefined);
      await postReporting(session, call);
      await table.pause(table.patience.quietMs);
      const heard = session.peer.transcript.frames.filter(
        ({ from, method }) => from === 'server' && method === 'notifications/progress',
      );
      const twice = heard.find((frame) =>
        heard.some((other) => other.text === frame.text && other.exchange !== frame.exchange),
      );
      if (twice) table.fail(`two streams have ${twice.text.slice(0, 160)}`, 'one stream');
      return `${describeStop(call)}: ${heard.length} notifications, each on one stream`;
    },
  },
  {
    ...about,
    id: 'http-legacy/standing-stream-unrelated',
    title: 'Keeps what belongs to a running call off the standing stream',
    level: 'SHOULD',
    rules: ['LHTTP-018'],
    hint: 'Write progress of a call to the stream of its POST; the stream of a GET is for news that belong to no call.',
    async run(table) {
      const call = reportingCall(table);
      const session = await openSession(table);
      const standing = await session.get().catch(() => undefined);
      if (standing?.status !== 200 || !standing.isStream)
        return table.skip('the server offers no standing stream');
      await postReporting(session, call);
      await table.pause(table.patience.quietMs);
      const stray = standing.frames.find(({ method }) => method === 'notifications/progress');
      if (stray) table.fail(`the standing stream has ${stray.text.slice(0, 160)}`, 'nothing of the call');
      return `${describeStop(call)}: its progress came elsewhere`;
    },
  },
  {
    ...about,
    id: 'http-legacy/stray-response',
    title: 'Answers a response that nobody waits for with 202, or refuses it with an HTTP error',
    rules: ['LHTTP-003', 'LHTTP-004'],
    hint: 'Answer a POST that holds a response with HTTP 202 and no body, or with a 4xx status.',
    async run(table) {
      const session = await openSession(table);
      const answer = await session.post({ jsonrpc: '2.0', id: 'isthmus-check-none', result: {} });
      await answer.http?.whole(table.patience.answerMs);
      if (answer.status === 202 && answer.http?.text === '') return '202 without a body';
      if (answer.status >= 400 && answer.status < 500) return `refused: ${answer.said}`;
      return table.fail(
        `a response to nothing was answered with ${answer.said}`,
        'HTTP 202 without a body, or a 4xx status',
      );
    },
  },
];

const PING = { jsonrpc: '2.0', id: 2, method: 'ping' };

function needSince(table: CheckContext, revision: string, what: string): void {
  if (table.revision < revision) table.skip(`${what} came with ${revision}, and ${table.revision} is spoken`);
}

/** Makes the call again, and asks for its progress. */
function postReporting(session: RawSession, { method, params }: WalkthroughStop): Promise<unknown> {
  return session.post({
    jsonrpc: '2.0',
    id: 7,
    method,
    params: { ...params, _meta: { progressToken: 'isthmus-check' } },
  });
}
