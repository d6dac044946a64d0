import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer } from '@isthmus/sdk';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import {
  ask,
  gate,
  type LegacySession,
  legacyRequest,
  modern,
  modernCall,
  open,
  openSession,
  type Stream,
  serveHttp,
} from '../../../sdk/test/support/http-server.js';
import { type AuthOptions, createAuthenticate } from '../../src/auth/create-authenticate.js';
import { bearer, openAuthority } from '../support/auth.js';
import { freshFolder } from '../support/open-gateway.js';

const TASKS = { capabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } };

/** A server with a tool that works until the test lets it end, as a call and as a task. */
async function opened(auth: AuthOptions) {
  const { promise, open: finish } = gate();
  const server = createServer({ name: 'slow', version: '1', tasks: { pollIntervalMs: 5 } });
  const work = () => promise.then(() => 'done');
  server.tool('slow', {}, (_args, ctx) => {
    ctx.progress(1, 2);
    return work();
  });
  server.tool('task', { task: 'required' }, work);
  const { authenticate } = createAuthenticate({ onWarning: () => {}, ...auth });
  const { url } = await serveHttp(server, { authenticate, keepAliveMs: 100, sse: true });
  return { url, finish };
}

interface Caller {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly session: LegacySession;
}

/** Each opens a stream that stays open. */
const STREAMS: Record<string, (caller: Caller) => Promise<Stream>> = {
  'the stream of a legacy session': ({ session }) => session.get(),
  'a stream of 2024-11-05': ({ url, headers }) =>
    open(url.replace('/mcp', '/sse'), {
      method: 'GET',
      headers: { accept: 'text/event-stream', ...headers },
    }),
  'a wait for the result of a task': async ({ session }) => {
    const created = await session.post(
      legacyRequest(2, 'tools/call', { name: 'task', arguments: {}, task: {} }),
    );
    const { taskId } = created.messages[0]!.result.task as { taskId: string };
    return session.open(legacyRequest(3, 'tasks/result', { taskId }));
  },
  'a subscription': ({ url, headers }) =>
    open(url, modern(1, 'subscriptions/listen', { notifications: { toolsListChanged: true } }, { headers })),
  'a subscription to a task': async ({ url, headers }) => {
    const created = await ask(url, modernCall(1, 'task', {}, { ...TASKS, headers }));
    const notifications = { taskIds: [created.messages[0]!.result['taskId']] };
    return open(url, modern(2, 'subscriptions/listen', { notifications }, { ...TASKS, headers }));
  },
};

/** A stream of a call that works. */
const CALLS: typeof STREAMS = {
  'a call': ({ url, headers }) =>
    open(url, modernCall(1, 'slow', {}, { headers, meta: { progressToken: 'p' } })),
  'a call of a legacy session': ({ session }) =>
    session.open(
      legacyRequest(4, 'tools/call', { name: 'slow', arguments: {}, _meta: { progressToken: 'p' } }),
    ),
};

const lastWords = async (stream: Stream) => {
  await expect.poll(() => stream.over).toBe(true);
  return stream.events.flatMap(({ comment }) => comment ?? []);
};

async function withToken() {
  const authority = await openAuthority();
  const clock = new FakeClock();
  const jwt = { jwksUrl: authority.jwksUrl, audience: 'https://mcp.example.com', clockTolerance: 0 };
  const place = await opened({ jwt, clock });
  const headers = bearer(await authority.token({ exp: 1060 }));
  const session = await openSession(place.url, { headers });
  const fresh = bearer(await authority.token({ exp: 5000 }));
  return { ...place, caller: { url: place.url, headers, session }, clock, fresh };
}

describe('when a token has expired', () => {
  it.each(Object.entries(STREAMS))('%s ends', async (_what, begin) => {
    const { caller, clock } = await withToken();
    const stream = await begin(caller);
    expect(stream.over).toBe(false);
    clock.advance(61_000);
    expect(await lastWords(stream)).toContain('the token has expired: authorize again');
  });

  it.each(Object.entries(CALLS))('%s may finish', async (_what, begin) => {
    const { caller, clock, finish } = await withToken();
    const stream = await begin(caller);
    // It ends with the next look at the tokens.
    const other = await STREAMS['a subscription']!(caller);
    clock.advance(61_000);
    await lastWords(other);
    expect(stream.over).toBe(false);
    finish();
    await stream.end();
    expect(stream.messages.at(-1)!.result.content).toEqual([{ type: 'text', text: 'done' }]);
  });

  it('a task goes on, and its caller gets the result with a fresh token', async () => {
    const { caller, clock, finish, fresh } = await withToken();
    const { session } = caller;
    const created = await session.post(
      legacyRequest(2, 'tools/call', { name: 'task', arguments: {}, task: {} }),
    );
    const { taskId } = created.messages[0]!.result.task as { taskId: string };
    const wait = await session.open(legacyRequest(3, 'tasks/result', { taskId }));
    clock.advance(61_000);
    await lastWords(wait);
    finish();
    expect((await session.post(legacyRequest(4, 'tasks/result', { taskId }))).status).toBe(401);
    const again = await session.post(legacyRequest(5, 'tasks/result', { taskId }), fresh);
    expect(again.messages[0]!.result.content).toEqual([{ type: 'text', text: 'done' }]);
  });
});

it('when a token is revoked, its streams end also while the checks of other tokens take long', async () => {
  const server = createServer({ name: 'quiet', version: '1' });
  const isRevoked = new Set<string>();
  const { url } = await serveHttp(server, {
    keepAliveMs: 100,
    authenticate(request) {
      const principal = request.header('x-who')!;
      const slow = () => new Promise<'good'>(() => {});
      return {
        principal,
        standing: () => (principal === 'mallory' ? slow() : isRevoked.has(principal) ? 'revoked' : 'good'),
      };
    },
  });
  const listen = async (who: string) => {
    const wanted = { notifications: { toolsListChanged: true } };
    const headers = { 'x-who': who };
    const stream = await open(url, modern(1, 'subscriptions/listen', wanted, { headers }));
    await stream.next();
    return stream;
  };
  const [hers, his] = [await listen('mallory'), await listen('bob')];
  isRevoked.add('bob');
  expect(await lastWords(his)).toContain('the token was revoked: authorize again');
  expect(hers.over).toBe(false);
});

it('when a token is taken out of the file, all that it has opened ends', async () => {
  const file = join(freshFolder(), 'tokens');
  writeFileSync(file, 'alice: alice-9d81c04be7aa00\nbob: bob-52f0aa613cbb1122\n', { mode: 0o600 });
  const { url } = await opened({ bearerFile: file });
  const headers = bearer('bob-52f0aa613cbb1122');
  const caller = { url, headers, session: await openSession(url, { headers }) };
  const streams = new Map<string, Stream>();
  for (const [what, begin] of Object.entries({ ...STREAMS, ...CALLS }))
    streams.set(what, await begin(caller));
  expect([...streams].filter(([, { over }]) => over)).toEqual([]);
  writeFileSync(file, 'alice: alice-9d81c04be7aa00\n', { mode: 0o600 });
  for (const [what, stream] of streams) {
    expect([what, await lastWords(stream)]).toEqual([
      what,
      expect.arrayContaining(['the token was revoked: authorize again']),
    ]);
  }
});
