/** `isthmus serve` with a remote server that wants a login: it uses the one of its operator, and waits for it. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, http } from '@isthmus/sdk';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ISTHMUS } from '../../../../test/support/child.js';
import { eventually, until } from '../../../../test/support/until.js';
import { loginStage } from '../support/login-stage.js';

async function startGateway() {
  const stage = await loginStage();
  const { server, home, environment } = stage;
  const file = join(home, 'mcp.json');
  const demo = { command: process.execPath, args: [ISTHMUS, 'demo'] };
  writeFileSync(file, JSON.stringify({ mcpServers: { issues: { url: server.url }, demo } }));
  const args = ['serve', '--config', file, '--listen', 'http://127.0.0.1:0/mcp', '--json'];
  const child = spawn(process.execPath, [ISTHMUS, ...args], { cwd: home, env: environment });
  onTestFinished(() => void child.kill('SIGKILL'));
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const address = await until('the address', () => /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(stdout)?.[0]);
  const page = async (path: string) => {
    const answer = await fetch(new URL(path, address));
    return { status: answer.status, body: (await answer.json()) as Record<string, never> };
  };
  return { ...stage, file, address, page, said: () => stdout + stderr };
}

describe('a gateway with a remote server that wants a login', () => {
  it('says needs-login in /status, /readyz and doctor, and is ready when the login comes, without a restart', async () => {
    const { server, address, page, run, pages, said, tokens, outputs } = await startGateway();
    await eventually(async () => {
      const { status, body } = await page('/readyz');
      expect([status, body]).toEqual([503, { ready: false, waitingFor: ['issues'], needsLogin: ['issues'] }]);
    });
    const reason = `${server.url} needs a login for mcp:read: isthmus login ${server.url}`;
    expect((await page('/status')).body['servers']).toMatchObject({
      issues: { state: 'needs-login', reason },
      demo: { state: 'ready' },
    });
    // The other servers are served. A call of the one that needs a login fails with an error of the gateway, not with 401.
    await using client = await connect(http(address), { mode: 'modern', cache: false });
    const before = (await client.listTools()).map(({ name }) => name);
    expect(before).toContain('demo__echo');
    const direct = await fetch(`${address}/issues`, {
      method: 'POST',
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'read',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name: 'read',
          arguments: {},
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      }),
    });
    expect(direct.status).not.toBe(401);
    expect(direct.headers.get('www-authenticate')).toBe(null);
    expect(await direct.text()).toContain('needs a login');
    const doctor = await run(['doctor', 'issues', '--json']);
    expect(JSON.parse(doctor.stdout).servers).toMatchObject([
      {
        name: 'issues',
        how: 'asked the gateway',
        problems: [
          {
            code: 'needs-login',
            message: expect.stringContaining(`isthmus login ${server.url}`),
            advice:
              'Log in as the user who runs the gateway. It notices the login, and need not be started again',
          },
        ],
      },
    ]);
    expect((await run(['status'])).stdout).toContain('needs-login');
    expect(pages()).toEqual([]);

    expect((await run(['login', server.url])).code).toBe(0);
    await eventually(async () => expect((await page('/readyz')).body).toEqual({ ready: true }));
    await eventually(async () => {
      const names = (await client.listTools()).map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(['issues__read', 'issues__write', 'demo__echo']));
    });
    expect(await client.callTool('issues__read')).toMatchObject({ content: [{ text: 'read' }] });

    // A logout is noticed, too.
    await run(['logout', server.url]);
    await expect(client.callTool('issues__read')).rejects.toThrow('needs a login');
    await eventually(async () =>
      expect((await page('/readyz')).body).toMatchObject({ needsLogin: ['issues'] }),
    );
    expect(pages()).toHaveLength(1);
    for (const token of tokens()) expect(said() + outputs.join('')).not.toContain(token);
  });
});
