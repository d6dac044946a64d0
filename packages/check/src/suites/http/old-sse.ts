import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import type { HttpEvent, PeerHttpAnswer } from '../../wire/http-peer.js';
import { ask } from './asking/answer.js';
import { initializeRequest } from './asking/requests.js';

const about = { suite: 'http', era: 'legacy', over: ['http'], lane: 'own', level: 'MUST' } as const;

/** HTTP with SSE, the transport of 2024-11-05, where it is offered beside the endpoint (HTTP-074). */
export const oldSseChecks: readonly Check[] = [
  {
    ...about,
    id: 'http-sse/endpoint-first',
    title: 'Begins an SSE stream of 2024-11-05 with the URL to post to',
    rules: ['SSE-001', 'SSE-002', 'HTTP-074'],
    hint: 'Send an event of type endpoint with the URI for messages as its data before anything else.',
    async run(table) {
      const { place, first } = await openOldStream(table);
      const endpoint = await first;
      if (endpoint?.event !== 'endpoint')
        return table.fail(
          `the first event at ${place.pathname} is ${endpoint ? JSON.stringify(endpoint) : 'none'}`,
          'an event of type endpoint',
        );
      return `endpoint: ${endpoint.data}`;
    },
  },
  {
    ...about,
    id: 'http-sse/answers-on-stream',
    title: 'Answers on the SSE stream of 2024-11-05, as message events',
    rules: ['SSE-004'],
    hint: 'Send responses as events of type message on the SSE stream, and answer the POST with 202 and no message.',
    async run(table) {
      const { http, place, first } = await openOldStream(table);
      const endpoint = await first;
      if (endpoint?.event !== 'endpoint') return table.skip('the stream does not say where to post');
      const request = initializeRequest(table, '2024-11-05', 'old');
      const posted = await ask(table, table.openHttp({ sse: true }), {
        ...request,
        url: new URL(endpoint.data, place),
      });
      if (posted.status < 200 || posted.status > 299)
        table.fail(`the POST of initialize was answered with ${posted.said}`, 'HTTP 2xx');
      if (posted.response)
        table.fail('the response came in the answer to the POST', 'the response on the stream');
      await http.waitFor(({ id }) => id === 'old', table.patience.answerMs);
      const event = http.events.find(({ data }) => data.includes('"old"'));
      if (!event) return table.fail('there was no response on the stream', 'the response of initialize');
      if (event.event !== undefined && event.event !== 'message')
        table.fail(`the response is an event of type ${event.event}`, 'an event of type message');
      return `POST: ${posted.status}; the response came on the stream`;
    },
  },
];

interface OldStream {
  readonly http: PeerHttpAnswer;
  readonly place: URL;
  /** Settles with the first event, of whatever type. */
  readonly first: Promise<HttpEvent | undefined>;
}

/** At the address itself where it speaks nothing else, or else beside it. */
async function openOldStream(table: CheckContext): Promise<OldStream> {
  if (table.target.transport !== 'http') return table.skip('the target is not at a URL');
  const { url } = table.target;
  const place = table.facts.isSse ? url : new URL('sse', url);
  if (!table.facts.isSse && place.pathname === url.pathname)
    return table.skip('the target is at /sse, and speaks Streamable HTTP');
  let tell: (event: HttpEvent) => void = () => {};
  const told = new Promise<HttpEvent>((resolve) => {
    tell = resolve;
  });
  const http = await table
    .openHttp({ sse: true })
    .request({
      method: 'GET',
      url: place,
      headers: { accept: 'text/event-stream' },
      ms: table.patience.answerMs,
      onEvent: (event) => tell(event),
    })
    .catch(() => undefined);
  if (http?.status === 200 && http.isStream) {
    const none = Promise.race([http.ended, table.pause(table.patience.answerMs)]).then(() => undefined);
    return { http, place, first: Promise.race([told, none]) };
  }
  http?.close();
  return table.skip(`there is no SSE stream at ${place.pathname}`);
}
