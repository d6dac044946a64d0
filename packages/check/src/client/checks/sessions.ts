import { EVENT_ID, RETRY_MS } from '../scenarios/streams.js';
import { ENDPOINT } from '../scripted/script.js';
import type { Head, Said, View } from '../view.js';
import { absent, type ClientCheck, every, fail, pass, skip, works } from './check.js';
import { acceptsBoth } from './headers.js';

/** Legacy sessions over HTTP, and streams that are resumed. */
export const SESSIONS: readonly ClientCheck[] = [
  {
    id: 'sessions/echoed',
    suite: 'sessions',
    title: 'Sends the session id on every request after the handshake',
    level: 'MUST',
    rules: ['SESS-004'],
    hint: 'Send the Mcp-Session-Id of the initialize response on every POST, GET and DELETE.',
    on: ['legacy-2025-03-26', 'legacy-2025-06-18', 'legacy-2025-11-25', 'legacy-asks'],
    over: ['http'],
    judge(view) {
      const opened = openings(view)[0];
      if (!opened) return skip('there was no handshake');
      const { entries } = view.transcript;
      const later = view.heads
        .filter((head) => head.exchange > (opened.entry.exchange ?? 0) && !isOpening(view, head))
        .map((head) => ({ head, index: entries.indexOf(head) }));
      return every(later, {
        none: 'nothing followed the handshake',
        problem: ({ head }) =>
          head.headers['mcp-session-id'] === undefined ? `A ${head.method} had no Mcp-Session-Id` : undefined,
        expected: 'Mcp-Session-Id',
        seen: (count) => `${count} requests had it`,
      });
    },
  },
  {
    id: 'sessions/fresh-handshake',
    suite: 'sessions',
    title: 'Sends no session id with initialize',
    level: 'MUST',
    rules: ['SESS-007'],
    hint: 'initialize opens a new session, so it has no session id.',
    on: 'all',
    over: ['http'],
    judge: (view) =>
      every(view.named('initialize'), {
        none: 'the client sent no initialize',
        problem: ({ head }) =>
          head?.headers['mcp-session-id'] === undefined ? undefined : 'initialize had Mcp-Session-Id',
        expected: 'No Mcp-Session-Id',
        seen: (count) => `${count} initialize had none`,
      }),
  },
  {
    id: 'sessions/lost',
    suite: 'sessions',
    title: 'Starts a new session when its session is gone (404)',
    level: 'MUST',
    rules: ['SESS-007'],
    hint: 'On 404 for a request with a session id: send initialize without one. Then repeat the request, or report an error.',
    on: ['session-lost'],
    judge(view) {
      const { entries } = view.transcript;
      const lost = entries.findIndex(
        (entry) =>
          entry.kind === 'status' &&
          entry.status === 404 &&
          view.heads.some(({ exchange }) => exchange === entry.exchange),
      );
      if (lost < 0) return skip('the client did not send a request in the lost session');
      const again = view.named('initialize').find(({ index }) => index > lost);
      return again
        ? pass('It sent initialize again')
        : absent(view, 'After the 404 there was no initialize', 'initialize without a session id', {
            index: lost,
          });
    },
  },
  {
    id: 'sessions/deleted',
    suite: 'sessions',
    title: 'Ends its session with DELETE when it is done',
    level: 'SHOULD',
    rules: ['SESS-008'],
    hint: 'Send DELETE with Mcp-Session-Id on close.',
    on: ['legacy-2025-03-26', 'legacy-2025-06-18', 'legacy-2025-11-25'],
    over: ['http'],
    judge(view) {
      if (openings(view).length === 0) return skip('there was no handshake');
      const ended = view.heads.find(({ method }) => method === 'DELETE');
      if (!ended)
        return fail('The session was left to expire', 'DELETE with Mcp-Session-Id', view.said.at(-1));
      return ended.headers['mcp-session-id'] === undefined
        ? fail('DELETE had no Mcp-Session-Id', 'The id of the session', {
            index: view.transcript.entries.indexOf(ended),
          })
        : pass('It sent DELETE');
    },
  },
  {
    id: 'sessions/get-accept',
    suite: 'sessions',
    title: 'Accepts text/event-stream on every GET',
    level: 'MUST',
    rules: ['LHTTP-015'],
    hint: 'Send Accept: text/event-stream.',
    on: 'all',
    over: ['http'],
    judge(view) {
      const { entries } = view.transcript;
      const gets = view.heads
        .filter(({ method }) => method === 'GET')
        .map((head) => ({ head, index: entries.indexOf(head) }));
      return every(gets, {
        none: 'the client sent no GET',
        problem: ({ head }) =>
          head.headers['accept']?.includes('text/event-stream')
            ? undefined
            : `Accept is ${head.headers['accept']}`,
        expected: 'text/event-stream',
        seen: (count) => `${count} did`,
      });
    },
  },
  {
    id: 'sessions/resumed',
    suite: 'sessions',
    title: 'Resumes a stream where it ended',
    level: 'SHOULD',
    rules: ['LHTTP-022'],
    hint: 'When a stream ends before the answer, send GET with Last-Event-ID of the last event.',
    on: ['stream-resumed'],
    judge(view, facts) {
      const opinion = works(view, facts);
      if (opinion.kind !== 'pass') return opinion;
      const get = view.heads.find(({ headers }) => headers['last-event-id'] !== undefined);
      return get?.headers['last-event-id'] === EVENT_ID
        ? pass('It sent the id of the last event')
        : fail(`Last-Event-ID was ${JSON.stringify(get?.headers['last-event-id'])}`, EVENT_ID);
    },
  },
  {
    id: 'sessions/retry-honoured',
    suite: 'sessions',
    title: 'Waits for the time in retry before it resumes a stream',
    level: 'MUST',
    rules: ['LHTTP-014'],
    hint: 'retry is in milliseconds, from the end of the stream.',
    on: ['stream-resumed'],
    judge(view) {
      const { entries } = view.transcript;
      const call = view.named('tools/call')[0];
      const get = view.heads.find(({ headers }) => headers['last-event-id'] !== undefined);
      const told = entries.find(
        (entry) =>
          entry.kind === 'out' && entry.exchange === call?.entry.exchange && entry.text.includes('retry:'),
      );
      if (!get || !told) return skip('the client did not resume the stream');
      const waited = get.at - told.at;
      return waited >= RETRY_MS - ROUNDING_MS
        ? pass(`It waited ${waited} ms`)
        : fail(`The client resumed the stream after ${waited} ms`, `${RETRY_MS} ms`, {
            index: entries.indexOf(get),
          });
    },
  },
  {
    id: 'sessions/sse-endpoint',
    suite: 'sessions',
    title: 'POSTs to the address that the endpoint event names (HTTP+SSE)',
    level: 'MUST',
    rules: ['SSE-003', 'HTTP-073', 'LHTTP-027'],
    hint: 'Resolve the data of the endpoint event relative to the URL of the GET.',
    on: ['legacy-2024-11-05'],
    over: ['http'],
    judge(view) {
      const get = view.heads.find(({ method }) => method === 'GET');
      if (!get) return skip('the client does not speak the HTTP+SSE transport of 2024-11-05');
      const { entries } = view.transcript;
      const posts = view.heads.filter(({ method, exchange }) => method === 'POST' && exchange > get.exchange);
      // Streamable HTTP also has GET streams. Its POSTs accept both kinds of responses, and go to the same address.
      const began = posts.findIndex(
        ({ path, headers }) => path === ENDPOINT || !acceptsBoth(headers['accept']),
      );
      if (began < 0) return skip('the client does not speak the HTTP+SSE transport of 2024-11-05');
      const after = posts.slice(began).map((head) => ({ head, index: entries.indexOf(head) }));
      return every(after, {
        none: 'the client sent no POST after the endpoint event',
        problem: ({ head }) => (head.path === ENDPOINT ? undefined : `A POST went to ${head.path}`),
        expected: ENDPOINT,
        seen: (count) => `${count} POSTs did`,
      });
    },
  },
];

/** Timers and clocks differ a little. */
const ROUNDING_MS = 20;

function openings(view: View): readonly Said[] {
  return view.named('initialize').filter((each) => view.answerTo(each)?.message['result'] !== undefined);
}

function isOpening(view: View, { exchange }: Head): boolean {
  return view.said.some(
    (each) => each.entry.exchange === exchange && (each.method === 'initialize' || each.era === 'modern'),
  );
}
