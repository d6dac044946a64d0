import type { Check } from '../../model.js';
import type { Table } from '../../run/table.js';
import type { HttpAnswer } from '../../wire/http-peer.js';
import { ask } from './asking/answer.js';
import { initializeRequest } from './asking/requests.js';

const about = { suite: 'http', era: 'legacy', over: ['http'], lane: 'own', level: 'MUST' } as const;

/** HTTP with SSE, the transport of 2024-11-05, where it is offered beside the endpoint (HTTP-074). */
export const oldSseChecks: readonly Check[] = [
  {
    ...about,
    id: 'http-sse/endpoint-first',
    title: 'Begins an SSE stream of 2024-11-05 with the URL to post to',
    rules: ['SSE-001', 'SSE-002'],
    hint: 'Send an event of type endpoint with the URI for messages as its data before anything else.',
    async run(table) {
      const { http, place } = await openOldStream(table);
      const endpoint = await firstEvent(table, http);
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
      const { http, place } = await openOldStream(table);
      const endpoint = await firstEvent(table, http);
      if (endpoint?.event !== 'endpoint') return table.skip('the stream does not say where to post');
      const request = initializeRequest(table, '2024-11-05', 'old');
      const posted = await ask(table, table.openHttp(), { ...request, url: new URL(endpoint.data, place) });
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

async function openOldStream(table: Table): Promise<{ readonly http: HttpAnswer; readonly place: URL }> {
  if (table.target.transport !== 'http') return table.skip('the target is not at a URL');
  const place = new URL('sse', table.target.url);
  const http = await table
    .openHttp()
    .request({
      method: 'GET',
      url: place,
      headers: { accept: 'text/event-stream' },
      ms: table.patience.answerMs,
    })
    .catch(() => undefined);
  if (http?.status === 200 && http.isStream && place.pathname !== table.target.url.pathname)
    return { http, place };
  http?.close();
  return table.skip(`there is no SSE stream at ${place.pathname}`);
}

/** The first event, of whatever type. */
async function firstEvent(table: Table, http: HttpAnswer) {
  await http.waitFor(() => true, table.patience.answerMs);
  return http.events[0];
}
