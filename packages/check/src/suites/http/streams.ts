import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import type { Frame } from '../../wire/transcript.js';
import { type Answer, ask, isResponse, readAnswer } from './client/answer.js';
import {
  describeStop,
  longestCall,
  modernRequest,
  progressTokens,
  reportingCall,
  streamsOf,
} from './client/requests.js';
import { needAlive } from './client/session.js';

const about = { suite: 'http', over: ['http'], level: 'MUST' } as const;

/** Event streams as answers. */
export const streamChecks: readonly Check[] = [
  {
    ...about,
    id: 'http-streams/end-with-response',
    title: 'Ends a stream with the response',
    level: 'SHOULD',
    rules: ['HTTP-017', 'LHTTP-006'],
    hint: 'Close the event stream of a POST after you have written the response, and write nothing after it.',
    async run(context) {
      // A stream of 2025-11-25 may end before its response, which the client fetches later (LHTTP-012).
      const streams = streamsOf(context).filter(({ http }) => http.frames.some(isResponse));
      if (streams.length === 0) return context.skip('no stream contains its response');
      for (const { stop, http } of streams) {
        const isEnded = await http.whole(context.patience.quietMs);
        const at = http.frames.findIndex(isResponse);
        const after = http.frames.slice(at + 1);
        if (after.length > 0) {
          context.fail(
            `the stream of ${describeStop(stop)} continues after the response: ${describe(after[0]!)}`,
            'the response is the last message',
          );
        }
        if (!isEnded)
          context.fail(
            `the stream of ${describeStop(stop)} stays open after the response`,
            'the response ends the stream',
          );
      }
      return `${streams.length} streams ended with their response`;
    },
  },
  {
    ...about,
    id: 'http-streams/events-are-messages',
    title: 'Sends one whole message in the data of each event',
    lane: 'after',
    rules: ['HTTP-013', 'LHTTP-005'],
    hint: 'Write each message as one line of JSON after data:, or write data: before every line of it.',
    run(context) {
      const events = context.transcripts
        .flatMap(({ frames }) => frames)
        .filter((frame) => frame.from === 'server' && frame.isEvent);
      if (events.length === 0) return context.skip('no answer was an event stream');
      const broken = events.find(({ json }) => json === undefined);
      if (broken)
        context.fail(
          `the data of an event is ${JSON.stringify(broken.text.slice(0, 120))}, which is not JSON`,
          'a whole JSON-RPC message',
        );
      return `${events.length} events have a whole message each`;
    },
  },
  {
    ...about,
    id: 'http-streams/no-requests',
    title: 'Sends no requests on a stream of the modern era',
    era: 'modern',
    lane: 'after',
    rules: ['HTTP-016', 'JRPC-013'],
    hint: 'Ask for input with resultType input_required; a modern server sends no requests.',
    run(context) {
      const asked = context.transcripts
        .flatMap(({ frames }) => frames)
        .find((frame) => frame.from === 'server' && frame.kind === 'request');
      if (asked) context.fail(`it sent the request ${String(asked.method)}`, 'no requests of the server');
      return 'no stream has a request of the server';
    },
  },
  {
    ...about,
    id: 'http-streams/not-buffered',
    title: 'Sets X-Accel-Buffering: no on its streams',
    era: 'modern',
    level: 'SHOULD',
    rules: ['HTTP-019'],
    hint: 'Set X-Accel-Buffering: no on text/event-stream answers, so that proxies pass events on at once.',
    run(context) {
      const streams = streamsOf(context);
      for (const { stop, http } of streams) {
        const value = http.headers['x-accel-buffering'];
        const by = String(http.headers['server'] ?? '');
        if (value === undefined && consumesIt(by)) {
          context.skip(`the answers come through ${by}, which does not pass X-Accel-Buffering on`);
        }
        if (value !== 'no') {
          context.fail(
            `the stream of ${describeStop(stop)} has ${value === undefined ? 'no X-Accel-Buffering' : `X-Accel-Buffering: ${String(value)}`}`,
            'X-Accel-Buffering: no',
          );
        }
      }
      return `${streams.length} streams have X-Accel-Buffering: no`;
    },
  },
  {
    ...about,
    id: 'http-streams/not-resumable',
    title: 'Does not replay a modern stream',
    era: 'modern',
    lane: 'own',
    rules: ['HTTP-022'],
    hint: 'Leave event ids out of modern streams, and do not replay them for a Last-Event-ID.',
    async run(context) {
      const ids = streamsOf(context).flatMap(({ http }) => http.events.flatMap(({ id }) => id ?? []));
      const [first] = ids;
      if (first === undefined) return 'no event of a modern stream has an id';
      const answer = await ask(context, context.openHttp(), {
        method: 'GET',
        headers: {
          accept: 'text/event-stream',
          'mcp-protocol-version': context.revision,
          'last-event-id': first,
        },
        ms: context.patience.answerMs,
      });
      const replayed = answer.http?.frames[0];
      if (replayed)
        context.fail(`GET with Last-Event-ID: ${first} replays ${describe(replayed)}`, 'nothing is replayed');
      return `events have ids (${first}), and GET with Last-Event-ID gives ${answer.said}`;
    },
  },
  {
    ...about,
    id: 'http-streams/own-notifications',
    title: 'Sends only notifications of its own request on a stream',
    lane: 'own',
    era: 'modern',
    rules: ['HTTP-015'],
    hint: 'Write progress and logs of a call to the stream of its own POST, and nowhere else.',
    async run(context) {
      const { params, method } = reportingCall(context);
      const tokens = [1, 2, 3, 4].map((each) => `isthmus-check-${each}`);
      const answers = await Promise.all(
        tokens.map((progressToken) =>
          ask(context, context.openHttp(), modernRequest(context, method, params, { progressToken })),
        ),
      );
      for (const [index, { http, said }] of answers.entries()) {
        if (!http)
          return context.fail(`one of ${tokens.length} calls at once got ${said}`, 'an answer to each');
        const strange = progressTokens(http).find((token) => token !== tokens[index]);
        if (strange !== undefined) {
          context.fail(
            `the stream of the call with token ${tokens[index]} has progress for ${String(strange)}`,
            'only its own progress',
          );
        }
      }
      return `${tokens.length} calls of ${String(params['name'])} at once: each stream has its own progress`;
    },
  },
  {
    ...about,
    id: 'http-streams/listen-has-no-progress',
    title: 'Sends no progress and no logs on a listen stream',
    lane: 'own',
    era: 'modern',
    rules: ['HTTP-018', 'LOG-004'],
    hint: 'Send progress and logs on the stream of their request. A listen stream carries only change notifications.',
    async run(context) {
      const { params, method } = reportingCall(context);
      const listen = await openListen(context);
      const call = modernRequest(context, method, params, {
        id: 2,
        progressToken: 'isthmus-check',
        logLevel: 'debug',
      });
      const answer = await ask(context, context.openHttp(), call);
      await context.pause(context.patience.quietMs);
      const strange = listen.frames.find(
        ({ method: each }) => each === 'notifications/progress' || each === 'notifications/message',
      );
      if (strange) context.fail(`the listen stream has ${describe(strange)}`, 'no progress, no logs');
      return `${String(params['name'])} was answered with ${answer.said}; the listen stream received nothing of it`;
    },
  },
  {
    ...about,
    id: 'http-streams/hang-up',
    title: 'Survives clients that disconnect, and sends nothing more for their requests',
    lane: 'own',
    era: 'modern',
    rules: ['HTTP-024', 'HTTP-025', 'CANC-004'],
    hint: 'Treat a closed response stream as cancellation: abort the work, write nothing more, and keep serving others.',
    async run(context) {
      const { params, method } = longestCall(context);
      const listen = await openListen(context).catch(() => undefined);
      for (let round = 0; round < 4; round++) {
        const request = modernRequest(context, method, params, {
          id: `gone-${round}`,
          progressToken: 'gone',
        });
        // Every second request is aborted before its stream begins, the others during it.
        const ms = round % 2 === 0 ? context.patience.answerMs : 1;
        const http = await context
          .openHttp()
          .request({ ...request, ms })
          .catch(() => undefined);
        await http?.waitFor(() => true, context.patience.answerMs);
        http?.close();
      }
      const after = await ask(
        context,
        context.openHttp(),
        modernRequest(context, method, params, { id: 'after', progressToken: 'after' }),
      );
      if (after.response?.id !== 'after') {
        context.fail(`after four disconnects, the same call was answered with ${after.said}`, 'a response');
      }
      const strange = [...(listen?.frames ?? []), ...(after.http?.frames ?? [])].find((frame) =>
        frame.text.includes('gone'),
      );
      if (strange)
        context.fail(`another stream has ${describe(strange)}`, 'nothing more about a cancelled request');
      await needAlive(context, 'four clients disconnected');
      return 'four disconnects, and the same call is served again';
    },
  },
];

/** A listen stream with all announced changes. Skips if there are none. */
async function openListen(context: CheckContext): Promise<NonNullable<Answer['http']>> {
  const { capabilities } = context.facts;
  const has = (name: string) =>
    (capabilities[name] as Record<string, unknown> | undefined)?.['listChanged'] === true;
  const notifications = {
    ...(has('tools') && { toolsListChanged: true }),
    ...(has('prompts') && { promptsListChanged: true }),
    ...(has('resources') && { resourcesListChanged: true }),
  };
  if (Object.keys(notifications).length === 0) return context.skip('the server announces no list changes');
  const request = modernRequest(context, 'subscriptions/listen', { notifications }, { id: 'listen' });
  const http = await context.openHttp().request({ ...request, ms: context.patience.answerMs });
  const first = await http.waitFor(() => true, context.patience.answerMs);
  if (first?.method === 'notifications/subscriptions/acknowledged') return http;
  const { said } = await readAnswer(http, 1);
  return context.skip(`subscriptions/listen is not served: ${said}`);
}

/** nginx, and what is made of it, obeys the header and removes it, unless `proxy_pass_header` is set. */
function consumesIt(server: string): boolean {
  return /^(nginx|openresty|tengine|angie|freenginx)\b/i.test(server);
}

function describe({ method, text }: Frame): string {
  return method ?? text.slice(0, 120);
}
