import { Client } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { judgeLife } from './support/judge.js';
import { officialV2 } from './support/official-v2.js';
import { tellStory } from './support/story.js';
import { DEMO, open, smallTalk, tellVariations } from './support/variations.js';

const auto = officialV2('auto', { era: 'modern', revision: '2026-07-28' });
const pinned = officialV2({ pin: '2026-07-28' }, { era: 'modern', revision: '2026-07-28' });
const legacy = officialV2('legacy', { era: 'legacy', revision: '2025-11-25' });

for (const peer of [auto, pinned, legacy]) {
  tellStory(peer);
  tellVariations(peer);
}

describe('the official v2 client with a server of one era', () => {
  const MODERN_ONLY = [...DEMO, '--era', 'modern'];
  const LEGACY_ONLY = [...DEMO, '--era', 'legacy'];

  it('auto finds the modern era of a modern-only server', async () => {
    const { session, recording } = await open(auto, MODERN_ONLY);
    await smallTalk(session, '2026-07-28');
    await session.close();
    for (const life of recording.lives()) expect(judgeLife(life, '2026-07-28')).toEqual([]);
  });

  it('legacy is told by a modern-only server which versions there are (VER-009)', async () => {
    await expect(open(legacy, MODERN_ONLY)).rejects.toMatchObject({
      code: -32022,
      message: expect.stringContaining('2026-07-28'),
      data: { supported: ['2026-07-28'], requested: '2025-11-25' },
    });
  });

  it('auto falls back to the handshake with a legacy-only server (VER-015)', async () => {
    const { session, recording } = await open(auto, LEGACY_ONLY);
    await smallTalk(session, '2025-11-25');
    await session.close();
    expect(recording.life().exit).toEqual({ code: 0, signal: null });
    expect(judgeLife(recording.life(), '2025-11-25')).toEqual([]);
  });

  it('pinned to 2026-07-28 refuses a legacy-only server with a clear error', async () => {
    await expect(open(pinned, LEGACY_ONLY)).rejects.toThrow(/2026-07-28|discover/);
  });
});

it('the official v2 client drops a progress that it reads together with the answer', async () => {
  // Proof that a lost last step is the client's doing: its transport delivers both in the right order.
  const seen: number[] = [];
  const complaints: string[] = [];
  const client = new Client({ name: 'interop-v2', version: '2.0.0' });
  client.onerror = (error) => complaints.push(error.message);
  const transport: Parameters<Client['connect']>[0] = {
    start: async () => {},
    close: async () => {},
    async send(message) {
      if (!('method' in message) || !('id' in message)) return;
      const { id, method } = message;
      const answer = (result: Record<string, unknown>) =>
        transport.onmessage?.({ jsonrpc: '2.0', id, result });
      if (method === 'initialize') {
        answer({ protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'a', version: '1' } });
      } else {
        const params = { progressToken: id, progress: 1 };
        transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/progress', params });
        answer({});
      }
    },
  };
  await client.connect(transport);
  await client.ping({ onprogress: ({ progress }) => seen.push(progress) });
  expect(seen).toEqual([]);
  expect(complaints).toEqual([expect.stringContaining('progress notification for an unknown token')]);
});
