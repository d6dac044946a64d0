import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DISCOVERED, FINE, faultServer } from '../../sdk/test/support/fault-server.js';
import { isthmus } from './support/isthmus.js';

/** The command line with servers behind URLs. */

const TOOLS = {
  tools: [{ name: 'greet', inputSchema: { type: 'object' } }],
  ttlMs: 0,
  cacheScope: 'private',
};

function guarded() {
  return faultServer(({ headers, method, params, reply, refuse, say }) => {
    if (headers.authorization !== 'Bearer s3cret') return say(401, 'no', { 'www-authenticate': 'Bearer' });
    if (method === 'server/discover') return reply(DISCOVERED);
    if (method === 'tools/list') return reply(TOOLS);
    if (method === 'resources/read') return reply({ contents: [{ uri: 'memo://1', text: 'one' }] });
    return params.name === 'greet' ? reply(FINE) : refuse(200, { code: -32602, message: 'unknown tool' });
  });
}

const TOKEN = ['--header', 'Authorization: Bearer s3cret'];

describe('a URL is a target', () => {
  it('of probe, list, call and read', async () => {
    const { url } = await guarded();
    const probed = await isthmus('probe', url, ...TOKEN, '--json');
    expect(probed).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(probed.stdout)).toMatchObject({ era: 'modern', revision: '2026-07-28' });
    expect(await isthmus('list', url, ...TOKEN)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('greet'),
    });
    expect(await isthmus('call', url, 'greet', ...TOKEN)).toMatchObject({ code: 0, stdout: 'fine\n' });
    expect(await isthmus('read', url, 'memo://1', ...TOKEN)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('one'),
    });
  });

  it('that may want to know who asks, and no value is ever shown', async () => {
    const { url } = await guarded();
    const ran = await isthmus('list', url, '-H', 'Authorization: Bearer wr0ng');
    expect(ran.code).toBe(5);
    expect(ran.stderr).toContain('HTTP 401 Unauthorized');
    expect(ran.stderr).toContain('--header "Authorization: Bearer …"');
    expect(ran.stdout + ran.stderr).not.toContain('wr0ng');
    const broken = await isthmus('list', url, '--header', 's3cret without a name');
    expect(broken.code).toBe(2);
    expect(broken.stdout + broken.stderr).not.toContain('s3cret');
  });

  it('where nobody may be', async () => {
    const server = await guarded();
    await server.close();
    const ran = await isthmus('list', server.url);
    expect(ran.code).toBe(3);
    expect(ran.stderr).toContain(`Cannot connect to ${server.url}: connection refused`);
  });

  it('of a configuration file, with its headers', async () => {
    const { url } = await guarded();
    const folder = mkdtempSync(join(tmpdir(), 'isthmus-cli-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'mcp.json');
    const remote = { type: 'http', url, headers: { Authorization: 'Bearer s3cret' } };
    writeFileSync(file, JSON.stringify({ mcpServers: { remote } }));
    const ran = await isthmus('call', '--config', file, 'remote', 'greet');
    expect(ran).toMatchObject({ code: 0, stdout: 'fine\n' });
    const refused = await isthmus('list', '--config', file, 'remote', '-H', 'authorization: Bearer other');
    expect(refused.code).toBe(5);
  });
});
