import { describe, expect, it } from 'vitest';
import { eventually } from '../../../test/support/until.js';
import { ask, legacyCall, modern, modernCall, openSession } from '../../sdk/test/support/http-server.js';
import { withGatewayDefaults } from '../src/server-definition.js';
import { openGateway } from './support/open-gateway.js';
import { commandUnit } from './support/server-definitions.js';
import { openFar } from './support/upstream.js';

const endpoint = {
  authenticate: async (request: { header(name: string): string | undefined }) => request.header('x-user'),
};
const as = (user: string) => ({ headers: { 'x-user': user } });

/** Says which process it is. */
const WHO = `
import { createServer, serve, stdio } from '${new URL('../../sdk/dist/index.js', import.meta.url).pathname}';
const server = createServer({ name: 'who', version: '1' });
server.tool('pid', {}, () => String(process.pid));
await serve(server, stdio());
`;
const whoUnit = (processes: 'shared' | 'per-principal' | 'per-conversation', stateless = false) =>
  commandUnit('who', ['--input-type=module', '-e', WHO], {
    processes,
    stateless,
  });

describe('under authentication', () => {
  it('each caller of a file has a process of its own, unless the server is said to be stateless', () => {
    const part = (stateless: boolean) =>
      ({
        kind: 'command',
        name: 'a',
        command: 'x',
        args: [],
        env: {},
        cwd: '/',
        stateless,
      }) as const;
    const modelOf = (stateless: boolean, hasPrincipals: boolean) => {
      return withGatewayDefaults(part(stateless), { hasPrincipals }).processes;
    };
    expect([modelOf(false, true), modelOf(true, true), modelOf(false, false)]).toEqual([
      'per-principal',
      'shared',
      'shared',
    ]);
  });

  it.each(['/mcp/who', '/mcp'])(
    'the same caller gets the same process, and another another, at %s',
    async (path) => {
      const other = await openFar();
      const { at } = await openGateway([whoUnit('per-principal'), other.unit('other')], { endpoint });
      const tool = path === '/mcp' ? 'who__pid' : 'pid';
      const pid = async (user: string) => {
        const { json } = await ask(at(path), modernCall(1, tool, {}, as(user)));
        return json.result.content[0].text as string;
      };
      const session = await openSession(at(path), as('ada'));
      const inSession = async () => (await session.post(legacyCall(1, tool))).json.result.content[0].text;
      const [ada, bob] = [await pid('ada'), await pid('bob')];
      expect(bob).not.toBe(ada);
      expect([await pid('ada'), await inSession(), await pid('bob')]).toEqual([ada, ada, bob]);
    },
  );

  it('a server that has a process for each caller is asleep until one comes, and that is healthy', async () => {
    const { get, status, at } = await openGateway([whoUnit('per-principal')], { endpoint: {} });
    expect((await get('/readyz')).status).toBe(200);
    expect((await get('/status')).status).toBe(200);
    expect((await status()).servers['who']).toMatchObject({ state: 'asleep', processes: { processes: [] } });
    await ask(at('/mcp'), modern(1, 'tools/list'));
    await eventually(async () => expect((await get('/readyz')).status).toBe(200));
  });

  it('one process for everybody refuses the second caller, unless it is stateless', async () => {
    const shared = await openGateway([whoUnit('shared')], { endpoint });
    const call = (url: string, user: string) => ask(url, modernCall(1, 'pid', {}, as(user)));
    expect((await call(shared.url, 'ada')).json.result).toBeDefined();
    expect((await call(shared.url, 'bob')).json.error).toMatchObject({ code: -32603 });
    const stateless = await openGateway([whoUnit('shared', true)], { endpoint });
    const [ada, bob] = [await call(stateless.url, 'ada'), await call(stateless.url, 'bob')];
    expect(bob.json.result.content).toEqual(ada.json.result.content);
  });

  it.each(['/mcp/a', '/mcp'])('a session is nothing to another caller, at %s (SESS-011)', async (path) => {
    const { at } = await openGateway([(await openFar()).unit('a'), (await openFar()).unit('b')], {
      endpoint,
    });
    const session = await openSession(at(path), as('ada'));
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    expect((await session.post(list, { 'x-user': 'bob' })).status).toBe(404);
    expect((await session.get({ 'x-user': 'bob' })).status).toBe(404);
    expect((await session.post(list)).status).toBe(200);
    expect((await ask(at(path), { method: 'GET' })).status).toBe(401);
  });
});
