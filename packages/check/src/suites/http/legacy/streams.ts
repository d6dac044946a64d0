import { messageOf } from '@isthmus/sdk/internal/errors.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import type { WalkthroughStop } from '../../../survey/facts.js';
import type { HttpEvent, PeerHttpAnswer } from '../../../wire/http-peer.js';
import { ask } from '../client/answer.js';
import { describeStop, initializeRequest, reportingCall } from '../client/requests.js';
import { openSession, type RawSession } from '../client/session.js';

const about = { suite: 'http', era: 'legacy', over: ['http'], lane: 'own', level: 'MUST' } as const;

/** Legacy HTTP: headers, GET, streams, and HTTP with SSE of 2024-11-05 (HTTP-074). */
export const legacyHttpChecks: readonly Check[] = [
  {
    ...about,
    id: 'http-legacy/version-invalid',
    title: 'Answers an unsupported MCP-Protocol-Version with 400',
    rules: ['LHTTP-026'],
    hint: 'Check MCP-Protocol-Version on every request of a session, and answer unsupported versions with HTTP 400.',
    async run(context) {
      needSince(context, '2025-06-18', 'the header');
      const session = await openSession(context);
      for (const version of ['1900-01-01', 'hello']) {
        const answer = await session.post(PING, { 'mcp-protocol-version': version });
        if (answer.status !== 400)
          context.fail(
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
    hint: 'If MCP-Protocol-Version is missing, use the version of the session, or 2025-03-26.',
    async run(context) {
      needSince(context, '2025-06-18', 'the header');
      const session = await openSession(context);
      const answer = await session.post(PING, { 'mcp-protocol-version': undefined });
      if (!answer.result)
        context.fail(`ping without MCP-Protocol-Version was answered with ${answer.said}`, 'HTTP 200');
      return 'served';
    },
  },
  {
    ...about,
    id: 'http-legacy/get',
    title: 'Answers GET with an event stream or with 405',
    rules: ['LHTTP-001', 'LHTTP-016'],
    hint: 'Answer GET with text/event-stream, and send the headers at once, or with HTTP 405.',
    async run(context) {
      const session = await openSession(context);
      try {
        const http = await session.get();
        http.close();
        if (http.status === 405) return '405';
        if (http.status === 200 && http.isStream) return 'an event stream';
        return context.fail(
          `GET was answered with HTTP ${http.status} and ${http.contentType || 'no content type'}`,
          'text/event-stream, or HTTP 405',
        );
      } catch (error) {
        if (error instanceof Error && error.name === 'Failed') throw error;
        return context.fail(`GET had no answer: ${messageOf(error)}`, 'text/event-stream, or HTTP 405');
      }
    },
  },
  {
    ...about,
    id: 'http-legacy/get-without-accept',
    title: 'Opens no stream for a GET that does not accept events',
    level: 'SHOULD',
    rules: [],
    reason: 'A browser or a health check must not hang on a stream that it cannot read.',
    hint: 'Answer a GET whose Accept does not list text/event-stream with HTTP 406.',
    async run(context) {
      const session = await openSession(context);
      const http = await session.get({ accept: 'text/html' }).catch(() => undefined);
      http?.close();
      if (!http || (http.status === 200 && http.isStream))
        context.fail(
          `GET with Accept: text/html ${http ? 'opens an event stream' : 'had no answer'}`,
          'HTTP 406 or 405',
        );
      return `was answered with HTTP ${http?.status}`;
    },
  },
  {
    ...about,
    id: 'http-legacy/responses-where-asked',
    title: 'Sends a response only on the stream of its request',
    rules: ['LHTTP-006', 'LHTTP-017', 'LHTTP-019'],
    hint: 'Write the response to the POST of its request. A GET stream carries no responses, and no message goes to two streams.',
    async run(context) {
      const session = await openSession(context);
      const streams = [];
      for (let count = 0; count < 2; count++) streams.push(await session.get().catch(() => undefined));
      const ids = Array.from({ length: 6 }, (_, each) => `here-${each}`);
      const answers = await Promise.all(ids.map((id) => session.post({ ...PING, id })));
      for (const [at, answer] of answers.entries()) {
        if (answer.response?.id !== ids[at])
          context.fail(
            `the POST of ${ids[at]} was answered with ${answer.said}${answer.response ? ` for ${answer.response.id}` : ''}`,
            'its own response',
          );
      }
      await context.pause(context.patience.quietMs);
      const stray = streams.flatMap((http) => http?.frames ?? []).find(({ kind }) => kind === 'result');
      if (stray) context.fail(`the GET stream has ${stray.text.slice(0, 120)}`, 'no responses');
      return `${ids.length} responses, each on its own POST`;
    },
  },
  {
    ...about,
    id: 'http-legacy/one-stream-each',
    title: 'Sends each message on one stream only',
    rules: ['LHTTP-019'],
    hint: 'Choose one stream for each message. Do not send it to the POST stream and to GET streams.',
    async run(context) {
      const call = reportingCall(context);
      const session = await openSession(context);
      for (let count = 0; count < 2; count++) await session.get().catch(() => undefined);
      await postReporting(session, call);
      await context.pause(context.patience.quietMs);
      const heard = session.peer.transcript.frames.filter(
        ({ from, method }) => from === 'server' && method === 'notifications/progress',
      );
      const twice = heard.find((frame) =>
        heard.some((other) => other.text === frame.text && other.exchange !== frame.exchange),
      );
      if (twice) context.fail(`two streams have ${twice.text.slice(0, 160)}`, 'one stream');
      return `${describeStop(call)}: ${heard.length} notifications, each on one stream`;
    },
  },
  {
    ...about,
    id: 'http-legacy/standing-stream-unrelated',
    title: 'Sends nothing of a running call on a GET stream',
    level: 'SHOULD',
    rules: ['LHTTP-018'],
    hint: 'Write the progress of a call to the stream of its POST. A GET stream is for messages that belong to no call.',
    async run(context) {
      const call = reportingCall(context);
      const session = await openSession(context);
      const standing = await session.get().catch(() => undefined);
      if (standing?.status !== 200 || !standing.isStream)
        return context.skip('the server offers no GET stream');
      await postReporting(session, call);
      await context.pause(context.patience.quietMs);
      const stray = standing.frames.find(({ method }) => method === 'notifications/progress');
      if (stray) context.fail(`the GET stream has ${stray.text.slice(0, 160)}`, 'no messages of the call');
      return `${describeStop(call)}: its progress came on another stream`;
    },
  },
  {
    ...about,
    id: 'http-legacy/stray-response',
    title: 'Answers an unexpected response with 202, or refuses it with an HTTP error',
    rules: ['LHTTP-003', 'LHTTP-004'],
    hint: 'Answer a POST with a response with HTTP 202 and no body, or with a 4xx status.',
    async run(context) {
      const session = await openSession(context);
      const answer = await session.post({ jsonrpc: '2.0', id: 'isthmus-check-none', result: {} });
      await answer.http?.whole(context.patience.answerMs);
      if (answer.status === 202 && answer.http?.text === '') return '202 without a body';
      if (answer.status >= 400 && answer.status < 500) return `refused: ${answer.said}`;
      return context.fail(
        `an unexpected response was answered with ${answer.said}`,
        'HTTP 202 without a body, or a 4xx status',
      );
    },
  },
  {
    ...about,
    id: 'http-sse/endpoint-first',
    title: 'Begins an SSE stream of 2024-11-05 with the URL for messages',
    rules: ['SSE-001', 'SSE-002', 'HTTP-074'],
    hint: 'Send an event of type endpoint with the URI for messages as its data before anything else.',
    async run(context) {
      const { place, first } = await openOldStream(context);
      const endpoint = await first;
      if (endpoint?.event !== 'endpoint')
        return context.fail(
          `the first event at ${place.pathname} is ${endpoint ? JSON.stringify(endpoint) : 'none'}`,
          'an event of type endpoint',
        );
      return `endpoint: ${endpoint.data}`;
    },
  },
  {
    ...about,
    id: 'http-sse/answers-on-stream',
    title: 'Sends responses as message events on the SSE stream of 2024-11-05',
    rules: ['SSE-004'],
    hint: 'Send responses as events of type message on the SSE stream, and answer the POST with 202 and no message.',
    async run(context) {
      const { http, place, first } = await openOldStream(context);
      const endpoint = await first;
      if (endpoint?.event !== 'endpoint') return context.skip('the stream has no endpoint event');
      const request = initializeRequest(context, '2024-11-05', 'old');
      const posted = await ask(context, context.openHttp({ sse: true }), {
        ...request,
        url: new URL(endpoint.data, place),
      });
      if (posted.status < 200 || posted.status > 299)
        context.fail(`the POST of initialize was answered with ${posted.said}`, 'HTTP 2xx');
      if (posted.response)
        context.fail('the response came in the answer to the POST', 'the response on the stream');
      await http.waitFor(({ id }) => id === 'old', context.patience.answerMs);
      const event = http.events.find(({ data }) => data.includes('"old"'));
      if (!event) return context.fail('there was no response on the stream', 'the response of initialize');
      if (event.event !== undefined && event.event !== 'message')
        context.fail(`the response is an event of type ${event.event}`, 'an event of type message');
      return `POST: ${posted.status}; the response came on the stream`;
    },
  },
];

const PING = { jsonrpc: '2.0', id: 2, method: 'ping' };

function needSince(context: CheckContext, revision: string, what: string): void {
  if (context.revision < revision)
    context.skip(`${what} came with ${revision}, and the session uses ${context.revision}`);
}

/** Repeats the call with a progress token. */
function postReporting(session: RawSession, { method, params }: WalkthroughStop): Promise<unknown> {
  return session.post({
    jsonrpc: '2.0',
    id: 7,
    method,
    params: { ...params, _meta: { progressToken: 'isthmus-check' } },
  });
}

interface OldStream {
  readonly http: PeerHttpAnswer;
  readonly place: URL;
  /** The first event, of any type. */
  readonly first: Promise<HttpEvent | undefined>;
}

/** At the URL of the target if it supports only SSE, or else at `sse` beside it. */
async function openOldStream(context: CheckContext): Promise<OldStream> {
  if (context.target.transport !== 'http') return context.skip('the target is not at a URL');
  const { url } = context.target;
  const place = context.facts.isSse ? url : new URL('sse', url);
  if (!context.facts.isSse && place.pathname === url.pathname)
    return context.skip('the target is at /sse, and uses Streamable HTTP');
  let tell: (event: HttpEvent) => void = () => {};
  const told = new Promise<HttpEvent>((resolve) => {
    tell = resolve;
  });
  const http = await context
    .openHttp({ sse: true })
    .request({
      method: 'GET',
      url: place,
      headers: { accept: 'text/event-stream' },
      ms: context.patience.answerMs,
      onEvent: (event) => tell(event),
    })
    .catch(() => undefined);
  if (http?.status === 200 && http.isStream) {
    const none = Promise.race([http.ended, context.pause(context.patience.answerMs)]).then(() => undefined);
    return { http, place, first: Promise.race([told, none]) };
  }
  http?.close();
  return context.skip(`there is no SSE stream at ${place.pathname}`);
}
