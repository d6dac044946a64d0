import { fileURLToPath } from 'node:url';
import { type ConnectOptions, connect, memory, stdio } from '@isthmus/sdk';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isthmus, node } from '../../packages/cli/test/support/isthmus.js';
import {
  ask,
  initialize,
  legacy,
  legacyCall,
  openSession,
  plainServer,
  serveHttp,
} from '../../packages/sdk/test/support/http-server.js';

const SESSION = fileURLToPath(new URL('programs/session-server.mjs', import.meta.url));
const TABLE =
  '2024-11-05 (session), 2025-03-26 (session), 2025-06-18 (session), 2025-11-25 (session), ' +
  '2026-03-26 (session, interim draft), 2026-07-28 (stateless)';
const INTERIM = '2026-03-26 is an interim draft, spoken here in the shapes of 2025-11-25';

describe('the interim draft 2026-03-26', () => {
  it.each(['auto', 'legacy', '2026-03-26'])(
    'P10: a server that answers initialize with it is used, in the mode %s',
    async (mode) => {
      const client = await open({ mode }, '2026-03-26');
      expect([client.era, client.revision]).toEqual(['legacy', '2026-03-26']);
      expect(client.verdict.warnings).toEqual([INTERIM]);
      expect((await client.callTool('add', {})).content).toEqual([{ type: 'text', text: '5' }]);
    },
  );

  it('P10: a server that speaks nothing else is offered it when it names it', async () => {
    const client = await open({}, '2026-03-26', '2026-03-26');
    expect(client.revision).toBe('2026-03-26');
  });

  it('P10: a published revision is preferred where the server names both', async () => {
    const client = await open({ mode: 'legacy' }, '2025-06-18', '2025-06-18', '2026-03-26');
    expect(client.revision).toBe('2025-06-18');
  });

  it('P10: a client that asks for it is answered with it, in the shapes of 2025-11-25', async () => {
    const client = await connect(memory(plainServer()), { mode: '2026-03-26' });
    onTestFinished(() => client.close());
    expect(client.revision).toBe('2026-03-26');
    expect((await client.callTool('echo', { text: 'hi' })).content).toEqual([{ type: 'text', text: 'hi' }]);
  });

  it('P10: a session over HTTP keeps it, in the header too', async () => {
    const { url } = await serveHttp(plainServer());
    const session = await openSession(url, { revision: '2026-03-26' });
    const { json } = await session.post(legacyCall(2, 'echo', { text: 'hi' }));
    expect(json.result.content).toEqual([{ type: 'text', text: 'hi' }]);
  });

  it('P10: probe calls it an interim draft', async () => {
    const { stdout } = await isthmus('probe', ...node(SESSION, '2026-03-26'));
    expect(stdout).toContain('legacy, revision 2026-03-26 (interim draft)');
    const { stdout: json } = await isthmus('probe', '--json', ...node(SESSION, '2026-03-26'));
    expect(JSON.parse(json).odd).toContainEqual({ code: 'interim-draft', message: INTERIM });
  });

  it('P10: a newer session revision that is not known is refused with the version table', async () => {
    const failure = await open({}, '2026-05-20').catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'NO_COMMON_REVISION' });
    expect((failure as Error).message).toContain(
      `initialize was answered with the revision "2026-05-20", which this client does not speak; it offered 2025-11-25. It speaks ${TABLE}`,
    );
  });

  it('P10: a client that asks for an unknown revision is still answered with the newest published one (INIT-010)', async () => {
    const { url } = await serveHttp(plainServer());
    const { json } = await ask(url, legacy(initialize(1, '2026-05-20')));
    expect(json.result.protocolVersion).toBe('2025-11-25');
  });
});

async function open(options: ConnectOptions, ...revisions: string[]) {
  const client = await connect(stdio({ command: process.execPath, args: [SESSION, ...revisions] }), {
    cache: false,
    ...options,
  });
  onTestFinished(() => client.close());
  return client;
}
