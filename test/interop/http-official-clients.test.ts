import { createServer, serve } from '@isthmus/sdk';
import { type HttpListenOptions, http } from '@isthmus/sdk/http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectV1 } from '../support/official-v1.js';
import { recordHttp } from './support/http-recording.js';
import { judgeLife } from './support/judge.js';
import { officialV1 } from './support/official-v1.js';
import { officialV2 } from './support/official-v2.js';
import type { Peer, PeerOptions } from './support/peer.js';
import { tellStory, type Way } from './support/story.js';
import { smallTalk } from './support/variations.js';

const STREAMABLE: Way = { title: ' over HTTP', isHttp: true, open: () => recordHttp('streamable') };
const SSE: Way = { title: ' over HTTP+SSE of 2024-11-05', isHttp: true, open: () => recordHttp('sse') };

const auto = officialV2('auto', { era: 'modern', revision: '2026-07-28' });
const pinned = officialV2({ pin: '2026-07-28' }, { era: 'modern', revision: '2026-07-28' });
const legacy = officialV2('legacy', { era: 'legacy', revision: '2025-11-25' });

for (const peer of [officialV1, auto, pinned, legacy]) tellStory(peer, STREAMABLE);
for (const peer of [officialV1, legacy]) tellStory(peer, SSE);

/** A connection for one test; closed and reaped when it ends, however it ends. */
async function connect(peer: Peer, args: readonly string[] = [], options?: PeerOptions) {
  const recording = await recordHttp('streamable', ...args);
  onTestFinished(() => recording.close());
  const session = await peer.connect(recording, options);
  onTestFinished(() => session.close());
  return { session, recording };
}

describe('official clients over HTTP with a server of one era', () => {
  it('v2 auto finds the modern era of a modern-only server', async () => {
    const { session, recording } = await connect(auto, ['--era', 'modern']);
    await smallTalk(session, '2026-07-28');
    expect(judgeLife(recording.life(), '2026-07-28')).toEqual([]);
  });

  it('v2 auto falls back to the handshake with a legacy-only server (VER-020)', async () => {
    const { session } = await connect(auto, ['--era', 'legacy']);
    await smallTalk(session, '2025-11-25');
  });

  it('v2 pinned to 2026-07-28 refuses a legacy-only server', async () => {
    await expect(connect(pinned, ['--era', 'legacy'])).rejects.toThrow();
  });

  it.each([officialV1, legacy])(
    '$title is told by a modern-only server which versions there are (VER-009)',
    async (peer) => {
      await expect(connect(peer, ['--era', 'modern'])).rejects.toThrow(/2026-07-28/);
    },
  );
});

describe('official clients over HTTP that can do less', () => {
  it('v2 is told with -32021 what it would have to be able to do (META-009)', async () => {
    const { session } = await connect(pinned, [], { capabilities: {} });
    await expect(session.call('test_elicitation')).rejects.toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { elicitation: expect.anything() } },
    });
    expect((await session.call('echo', { text: 'still here' })).content).toEqual([
      { type: 'text', text: 'still here' },
    ]);
  });

  it('v1 gets a tool that would ask as a result with isError', async () => {
    const { session } = await connect(officialV1, [], { capabilities: {} });
    expect((await session.call('test_elicitation')).isError).toBe(true);
  });
});

it('the official v2 client repeats arguments in headers, and they are found right (HTTP-047, HTTP-058)', async () => {
  const { session } = await connect(pinned);
  await session.tools();
  for (const region of ['eu-west-1', 'grün ✓', ' blank ', '=?base64?x?=', '']) {
    const { content } = await session.call('test_header_mirroring', { region });
    expect(content).toEqual([{ type: 'text', text: `region: ${region}` }]);
  }
  expect((await session.call('test_header_mirroring', {})).content).toEqual([
    { type: 'text', text: 'region: none' },
  ]);
});

it('official clients of both eras use one endpoint at the same time, each with its own answers', async () => {
  const recordings = await recordHttp('streamable');
  onTestFinished(() => recordings.close());
  const sessions = await Promise.all(
    [officialV1, auto, pinned, legacy].map((peer) => peer.connect(recordings)),
  );
  for (const session of sessions) onTestFinished(() => session.close());
  const said = await Promise.all(
    Array.from({ length: 100 }, async (_, n) => {
      const { content } = await sessions[n % 4]!.call('echo', { text: `call ${n}` });
      return content[0]?.['text'];
    }),
  );
  expect(said).toEqual(Array.from({ length: 100 }, (_, n) => `call ${n}`));
});

describe('the official v1 client', () => {
  async function v1(options: HttpListenOptions, headers: Record<string, string> = {}) {
    const server = createServer({ name: 'own', version: '1' });
    server.tool('who', {}, (_args, ctx) => ctx.peer.principal ?? 'nobody');
    server.tool('long', {}, async (_args, ctx) => {
      for (let step = 1; step <= 6; step += 1) {
        ctx.progress(step, 6);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      return 'the end';
    });
    const served = await serve(server, http({ port: 0, ...options }));
    onTestFinished(() => served.close({ graceMs: 0 }));
    const requests: string[] = [];
    const { client, transport, endSession } = await connectV1(
      { url: served.addresses[0]! },
      {
        headers,
        fetch: (input, given) => {
          const resumed = new Headers(given?.headers).has('last-event-id') ? ' with Last-Event-ID' : '';
          requests.push(`${given?.method ?? 'GET'}${resumed}`);
          return fetch(input, given);
        },
      },
    );
    onTestFinished(() => client.close());
    return { client, transport, endSession, served, requests };
  }
  const text = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text;

  it('polls a stream that is let go, and gets all progress and the answer (LHTTP-012)', async () => {
    const { client, requests } = await v1({ pollAfterMs: 150, retryMs: 20 });
    const seen: number[] = [];
    const result = await client.callTool({ name: 'long' }, undefined, {
      onprogress: ({ progress }) => seen.push(progress),
    });
    expect(text(result)).toBe('the end');
    expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
    expect(requests.filter((each) => each === 'GET with Last-Event-ID').length).toBeGreaterThan(0);
  });

  it('ends its session with DELETE, and is not known any more', async () => {
    const { client, transport, endSession, served, requests } = await v1({});
    expect(served.connections).toBe(1);
    const { sessionId } = transport;
    expect(sessionId).toMatch(/./);
    await endSession();
    expect(requests).toContain('DELETE');
    await expect.poll(() => served.connections).toBe(0);
    await expect(client.ping()).rejects.toThrow();
  });

  it('works with a server that keeps no sessions', async () => {
    const { client, transport, served } = await v1({ legacy: 'stateless' });
    expect(transport.sessionId).toBeUndefined();
    expect(text(await client.callTool({ name: 'who' }))).toBe('nobody');
    expect(served.connections).toBe(0);
  });

  it('is known by its token, and sent away without', async () => {
    const authenticate: HttpListenOptions['authenticate'] = (request) =>
      request.header('authorization') === 'Bearer ada' ? 'ada' : undefined;
    const { client } = await v1({ authenticate }, { authorization: 'Bearer ada' });
    expect(text(await client.callTool({ name: 'who' }))).toBe('ada');
    await expect(v1({ authenticate })).rejects.toThrow(/401|[Uu]nauthorized|Authorization/);
  });
});
