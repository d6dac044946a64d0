/** Official clients of both generations, through `isthmus serve --config` to real servers. */

import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { official } from '../../packages/gateway/test/support/clients.js';
import type { Session } from '../bridge-matrix/clients/session.js';
import { withEverything } from '../bridge-matrix/features/everything.js';
import { type Feature, textOf } from '../bridge-matrix/features/feature.js';
import { connectV1 } from '../support/official-v1.js';
import { connectV2 } from '../support/official-v2.js';
import { useHouse } from './servers.js';

const house = useHouse();
const PLAYED = ['call', 'elicit', 'complete', 'read', 'subscribe'] as const satisfies readonly Feature[];

describe.each(['v1', 'v2-auto', 'v2-modern', 'v2-legacy'] as const)('the official client %s', (kind) => {
  const era = kind === 'v2-auto' || kind === 'v2-modern' ? 'modern' : 'legacy';

  it('has all of server-everything at its own address', async () => {
    const session = await official(kind, house().gateway.at('/mcp/everything'));
    expect(session.era).toBe(era);
    for (const feature of ['list', ...PLAYED] as const) await play(feature, session);
    expect(session.complaints).toEqual([]);
  });

  it('has all servers that work at one address, each under its name', async () => {
    const { gateway, folder } = house();
    const session = await official(kind, gateway.url);
    expect([session.era, session.serverName]).toEqual([era, 'isthmus']);
    const tools = await session.tools();
    expect(new Set(tools.map((name) => name.split('__')[0]))).toEqual(
      new Set(['everything', 'files', 'fragile']),
    );
    expect(await session.prompts()).toContain('everything__completable-prompt');
    expect(await session.resources()).toContain('demo://resource/static/document/features.md');
    for (const feature of PLAYED) await play(feature, among(session, 'everything__'));
    const path = join(folder, 'hello.txt');
    expect(textOf(await session.call('files__read_text_file', { path }))).toBe('hello from a file');
    const outside = await session.call('files__read_text_file', { path: '/etc/passwd' });
    expect([outside.isError, textOf(outside)]).toEqual([true, expect.stringContaining('Access denied')]);
    expect(session.complaints).toEqual([]);
  });

  it('is told what is wrong with a server that cannot be started, and with one that ends', async () => {
    const { gateway } = house();
    // The official client of 2026 asks for the era first, and tells no more than the status of what it got.
    const [broken, crashing] =
      era === 'legacy' ? [/command not found/, /stopped with code 1/] : [/503/, /503/];
    await expect(official(kind, gateway.at('/mcp/broken'))).rejects.toThrow(broken);
    await expect(official(kind, gateway.at('/mcp/crashing'))).rejects.toThrow(crashing);
    const session = await official(kind, gateway.url);
    await expect(session.call('fragile__die')).rejects.toThrow(/fragile stopped with code 7/);
    expect(textOf(await session.call('fragile__echo', { text: 'back' }))).toBe('back');
  });
});

describe.each(['/sse', '/mcp/everything/sse', '/servers/everything/sse'])(
  'the transport of 2024-11-05 at %s',
  (path) => {
    const prefix = path === '/sse' ? 'everything__' : '';

    it('serves the official clients of both generations', async () => {
      const address = { url: house().gateway.at(path), transport: 'sse' } as const;
      const [{ client: v1 }, { client: v2 }] = await Promise.all([connectV1(address), connectV2(address)]);
      onTestFinished(async () => {
        await Promise.all([v1.close(), v2.close()]);
      });
      for (const client of [v1, v2]) {
        const { tools } = await client.listTools();
        expect(tools.map(({ name }) => name)).toContain(`${prefix}echo`);
        const answer = await client.callTool({ name: `${prefix}echo`, arguments: { message: 'hi' } });
        expect(answer.content).toEqual([{ type: 'text', text: 'Echo: hi' }]);
        const { contents } = await client.readResource({
          uri: 'demo://resource/static/document/features.md',
        });
        expect(contents).toHaveLength(1);
        const ref = { type: 'ref/prompt', name: `${prefix}completable-prompt` } as const;
        const { completion } = await client.complete({ ref, argument: { name: 'department', value: 'S' } });
        expect(completion.values).toEqual(['Sales', 'Support']);
      }
    });
  },
);

async function play(feature: Feature, session: Session): Promise<void> {
  const playing = withEverything[feature];
  if (typeof playing === 'string') throw new Error(`${feature}: ${playing}`);
  await playing(session);
}

/** One server of all of them, as if it were alone. */
function among(session: Session, prefix: string): Session {
  return new Proxy(session, {
    get(target, name: keyof Session) {
      if (name === 'call') return (tool: string, ...more: []) => target.call(prefix + tool, ...more);
      if (name === 'prompt')
        return (prompt: string, args: Record<string, string>) => target.prompt(prefix + prompt, args);
      if (name === 'complete') {
        const complete: Session['complete'] = (ref, ...more) =>
          target.complete(ref.type === 'ref/prompt' ? { ...ref, name: prefix + ref.name } : ref, ...more);
        return complete;
      }
      return target[name];
    },
  });
}
