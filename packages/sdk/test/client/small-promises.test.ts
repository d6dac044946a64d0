import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { type Client, connect, createServer, memory, stdio } from '../../src/index.js';

const fixture = (name: string) =>
  fileURLToPath(new URL(`../../../../test/programs/${name}`, import.meta.url));
let client: Client | undefined;

afterEach(() => client?.close());

describe('the stderr of a child', () => {
  it('is forwarded as it arrives, and a listener that throws does no harm (STDIO-006, STDIO-007)', async () => {
    const heard: string[] = [];
    client = await connect(
      stdio({
        command: process.execPath,
        args: [fixture('server-slow-boot.mjs'), '50', 'dual'],
        onStderr(text) {
          heard.push(text);
          throw new Error('the caller made a mistake');
        },
      }),
      { cache: false },
    );
    // Two pipes have no common order: an answer may overtake what was written to stderr before it.
    await expect.poll(() => heard.join('')).toContain('booted after 50 ms');
    expect((await client.callTool('echo', { text: 'still here' })).content).toEqual([
      { type: 'text', text: 'still here' },
    ]);
  });
});

describe('who is calling', () => {
  it('is this version of the package, unless the caller says otherwise (META-003)', async () => {
    const manifest = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'));
    const server = createServer({ name: 'asking', version: '1.0.0' });
    server.tool('who', {}, (_args, ctx) => ({ ...ctx.peer.info }));
    client = await connect(memory(server));
    expect((await client.callTool('who')).structuredContent).toEqual({
      name: 'isthmus',
      version: manifest.version,
    });
    await client.close();
    client = await connect(memory(server), { info: { name: 'me', version: '7' } });
    expect((await client.callTool('who')).structuredContent).toEqual({ name: 'me', version: '7' });
  });
});

describe('a command that is not a server', () => {
  it('is reported at once when it echoes its input', async () => {
    await expect(connect(stdio({ command: 'cat' }), { cache: false })).rejects.toMatchObject({
      code: 'NO_COMMON_REVISION',
      message: 'cat echoes its input; it is not an MCP server',
    });
  });

  it('is refused with what each step brought', async () => {
    const connector = stdio({ command: process.execPath, args: ['-e', 'process.exit(3)'] });
    await expect(connect(connector, { cache: false })).rejects.toMatchObject({
      code: 'CHILD_EXITED',
      evidence: [
        expect.stringContaining('the server ended on server/discover'),
        'it was started once more, to be spoken to as legacy',
      ],
    });
  });
});

describe('closing right after an abort', () => {
  it('still tells the server of the cancellation (STDIO-013)', async () => {
    const heard: string[] = [];
    const program = fixture('server-answers-after-cancel.mjs');
    client = await connect(
      stdio({ command: process.execPath, args: [program, 'modern'], onStderr: (text) => heard.push(text) }),
      { cache: false },
    );
    const abort = new AbortController();
    const calling = client.callTool('wait', {}, { signal: abort.signal }).catch((error) => error.code);
    // A call that has not begun to leave is taken out of the queue, and the server hears nothing of it.
    await expect.poll(() => heard.join('')).toMatch(/waiting \d/);
    abort.abort();
    expect(await calling).toBe('CANCELLED');
    await client.close();
    expect(heard.join('')).toMatch(/cancelled \d/);
  });
});

describe('the times of a call', () => {
  it.each([{ timeoutMs: 0 }, { timeoutMs: -1 }, { timeoutMs: Number.NaN }, { maxTimeoutMs: Number.NaN }])(
    'are refused before anything is sent: %o',
    async (times) => {
      const calls: unknown[] = [];
      const server = createServer({ name: 'counting', version: '1.0.0' });
      server.tool('count', {}, () => calls.push('called'));
      client = await connect(memory(server));
      await expect(client.callTool('count', {}, times)).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        sent: 'no',
      });
      expect(calls).toEqual([]);
      await expect(
        client.callTool('count', {}, { timeoutMs: Number.POSITIVE_INFINITY }),
      ).resolves.toBeDefined();
      expect(calls).toEqual(['called']);
    },
  );
});
