import type { Check } from '../../../model.js';
import type { PeerHttpAnswer } from '../../../wire/http-peer.js';
import { paramsOf } from '../../../wire/transcript.js';
import { causeInAnswer } from '../client/answer.js';
import { longestCall, reportingCall } from '../client/requests.js';
import { openNamedSession, openSession, type RawSession } from '../client/session.js';

const about = { suite: 'http', era: 'legacy', over: ['http'], lane: 'own', level: 'MUST' } as const;

/** Sessions of the legacy era. */
export const sessionChecks: readonly Check[] = [
  {
    ...about,
    id: 'http-session/visible-ascii',
    title: 'Uses only visible ASCII characters in session ids',
    rules: ['SESS-003'],
    hint: 'Use only the characters 0x21 to 0x7E in session ids, for example a UUID.',
    async run(context) {
      const { id } = await openNamedSession(context);
      if (!/^[\x21-\x7e]+$/.test(id))
        context.fail(`the session id is ${JSON.stringify(id)}`, 'visible ASCII only');
      return `a session id of ${id.length} visible characters`;
    },
  },
  {
    ...about,
    id: 'http-session/strong-ids',
    title: 'Uses session ids that cannot be guessed',
    level: 'SHOULD',
    rules: ['SESS-002'],
    hint: 'Make session ids with a cryptographic random number generator (128 bits or more), for example a UUID.',
    async run(context) {
      const ids: string[] = [];
      for (let count = 0; count < 4; count++) ids.push((await openNamedSession(context)).id);
      const short = ids.find((id) => id.length < 16);
      if (short !== undefined) context.fail(`a session id is ${short}`, 'at least 16 characters');
      const [one = '', ...others] = ids;
      for (const other of others) {
        const same = [...one].filter((character, at) => character === other[at]).length;
        if (one.length - same < 8)
          context.fail(`two session ids are ${one} and ${other}`, 'ids that cannot be predicted');
      }
      return `four ids of ${one.length} characters that have little in common`;
    },
  },
  {
    ...about,
    id: 'http-session/required',
    title: 'Answers requests without a session id with 400',
    level: 'SHOULD',
    rules: ['SESS-005'],
    hint: 'Answer requests other than initialize that have no Mcp-Session-Id with HTTP 400.',
    async run(context) {
      const session = await openNamedSession(context);
      const answer = await session.post(PING, { 'mcp-session-id': undefined });
      if (answer.status !== 400)
        context.fail(`ping without Mcp-Session-Id was answered with ${answer.said}`, 'HTTP 400');
      return `was answered with ${answer.said}`;
    },
  },
  {
    ...about,
    id: 'http-session/unknown',
    title: 'Answers requests of an unknown session with 404',
    level: 'SHOULD',
    rules: [],
    reason:
      'Clients start a new session only on 404 (SESS-007), and after a restart all sessions are unknown.',
    hint: 'Answer requests with an unknown Mcp-Session-Id with HTTP 404.',
    async run(context) {
      const session = await openNamedSession(context);
      const unknown = session.id.replace(/[0-9a-z]/gi, (each) => (each === '0' ? '1' : '0'));
      const answer = await session.post(PING, { 'mcp-session-id': unknown });
      if (answer.status !== 404)
        context.fail(`ping in an unknown session was answered with ${answer.said}`, 'HTTP 404');
      return `was answered with ${answer.said}`;
    },
  },
  {
    ...about,
    id: 'http-session/ended',
    title: 'Ends a session on DELETE, and answers its later requests with 404',
    rules: ['SESS-006', 'SESS-009'],
    hint: 'Answer DELETE with a 2xx status and every later request of the session with HTTP 404, or refuse DELETE with 405.',
    async run(context) {
      const session = await openNamedSession(context);
      const ended = await session.end();
      if (ended.status === 405) return 'DELETE is refused with 405';
      if (ended.status < 200 || ended.status > 299)
        context.fail(`DELETE was answered with ${ended.said}`, 'HTTP 2xx, or 405');
      const answer = await session.post(PING);
      if (answer.status !== 404)
        context.fail(`after DELETE, ping was answered with ${answer.said}`, 'HTTP 404');
      return `DELETE: ${ended.status}; afterwards 404`;
    },
  },
  {
    ...about,
    id: 'http-session/isolated',
    title: 'Separates two sessions that use the same request ids',
    rules: ['JRPC-006', 'LHTTP-019'],
    hint: 'Store running requests by session and id, not by id alone. Write messages only to streams of their own session.',
    async run(context) {
      const [one, other] = await Promise.all([openSession(context), openSession(context)]);
      const streams = await Promise.all([one, other].map(standing));
      const list = ['tools', 'prompts', 'resources'].find(
        (each) => context.facts.capabilities[each] !== undefined,
      );
      if (list === undefined)
        return context.skip('the server has no lists, so two answers cannot be distinguished');
      for (let id = 100; id < 105; id++) {
        const [listed, pinged] = await Promise.all([
          one.post({ jsonrpc: '2.0', id, method: `${list}/list` }),
          other.post({ ...PING, id }),
        ]);
        if (!listed.result?.[list] || !pinged.result || pinged.result[list] !== undefined) {
          context.fail(
            `with id ${id} in two sessions, ${list}/list was answered with ${JSON.stringify(listed.result)?.slice(0, 80) ?? listed.said} and ping with ${JSON.stringify(pinged.result)?.slice(0, 80) ?? pinged.said}`,
            'the right answer for each',
            causeInAnswer(listed),
          );
        }
      }
      const strays = streams.flatMap((http) => http?.frames ?? []).filter(({ kind }) => kind === 'result');
      if (strays.length > 0)
        context.fail(`a GET stream has ${strays[0]!.text.slice(0, 120)}`, 'no responses');
      return 'the same five ids in two sessions: each got its own answers';
    },
  },
  {
    ...about,
    id: 'http-session/own-notifications',
    title: 'Sends a session no notifications of the calls of another session',
    rules: ['LHTTP-019'],
    hint: 'Write progress and logs only to streams of the session whose call caused them.',
    async run(context) {
      const call = reportingCall(context);
      const [one, other] = await Promise.all([openSession(context), openSession(context)]);
      const http = await standing(other);
      if (!http) return context.skip('the server offers no GET stream');
      await one.post({
        jsonrpc: '2.0',
        id: 7,
        method: call.method,
        params: { ...call.params, _meta: { progressToken: 'isthmus-check-one' } },
      });
      await other.post(PING);
      await context.pause(context.patience.quietMs);
      const stray = http.frames.find((frame) => paramsOf(frame)['progressToken'] === 'isthmus-check-one');
      if (stray) context.fail(`another session received ${stray.text.slice(0, 120)}`, 'nothing');
      return `progress of ${String(call.params['name'])} came to its own session only`;
    },
  },
  {
    ...about,
    id: 'http-session/same-ids-at-once',
    title: 'Sends progress to the session of its call, also if another session uses the same request id',
    rules: ['LHTTP-019'],
    hint: 'Find the stream of a call by its session and its id: two clients use the same ids.',
    async run(context) {
      const call = longestCall(context);
      const sessions = await Promise.all([openSession(context), openSession(context)]);
      const streams = await Promise.all(sessions.map(standing));
      const tokens = ['isthmus-check-one', 'isthmus-check-two'];
      const calls = await Promise.all(
        sessions.map((session, at) =>
          session.post({
            jsonrpc: '2.0',
            id: 7,
            method: call.method,
            params: { ...call.params, _meta: { progressToken: tokens[at] } },
          }),
        ),
      );
      await Promise.all(sessions.map((session) => session.post({ ...PING, id: 8 })));
      await context.pause(context.patience.quietMs);
      for (const [at, answer] of calls.entries()) {
        const heard = [...(answer.http?.frames ?? []), ...(streams[at]?.frames ?? [])];
        const stray = heard.find((frame) => paramsOf(frame)['progressToken'] === tokens[1 - at]);
        if (stray)
          context.fail(
            `two sessions had a call with the id 7 at once, and one received a message of the other: ${stray.text.slice(0, 120)}`,
            'each session receives only messages of its own call',
          );
        const twice = calls.filter(({ response }) => response?.id === 7).length;
        if (twice < 2)
          context.fail(
            `two sessions had a call with the id 7 at once, and one had ${answer.said}`,
            'an answer to each',
          );
      }
      return `two calls of ${String(call.params['name'])} with the same id in two sessions: each received only its own messages`;
    },
  },
];

const PING = { jsonrpc: '2.0', id: 2, method: 'ping' };

/** The GET stream, if there is one. */
async function standing(session: RawSession): Promise<PeerHttpAnswer | undefined> {
  try {
    const http = await session.get();
    if (http.isStream && http.status === 200) return http;
    http.close();
  } catch {
    // Some servers send no headers before the first event.
  }
  return undefined;
}
