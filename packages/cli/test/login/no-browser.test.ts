/**
 * Nothing opens a browser but `isthmus login` and the start of a command with --auth browser: not a refresh that is refused,
 * a probe, a health check, a reconnect or a daemon.
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, http } from '@isthmus/sdk';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ISTHMUS } from '../../../../test/support/child.js';
import { eventually, until } from '../../../../test/support/until.js';
import { type DaemonStage, daemonStage } from '../support/daemon-stage.js';

/** A login whose refresh token the authorization server does not take any more. */
async function deadLogin() {
  const stage = await daemonStage({ accessTokenTtl: 3600 });
  const { run, server, authorization, tokens } = stage;
  expect((await run(['login', server.url])).code).toBe(0);
  const [access = '', refresh = ''] = tokens();
  await authorization.expire(access);
  await (await authorization.provider.RefreshToken.find(refresh))!.destroy();
  const file = join(stage.home, 'mcp.json');
  writeFileSync(file, JSON.stringify({ mcpServers: { issues: { url: server.url } } }));
  return { ...stage, file };
}

/** `isthmus serve`, with its health checks. */
async function gatewayOf({ home, environment }: DaemonStage, file: string): Promise<string> {
  const args = ['serve', '--config', file, '--listen', 'http://127.0.0.1:0/mcp', '--json'];
  const child = spawn(process.execPath, [ISTHMUS, ...args], { cwd: home, env: environment });
  onTestFinished(() => void child.kill('SIGKILL'));
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  return until('the address', () => /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(stdout)?.[0]);
}

describe('a login that cannot be renewed', () => {
  it('is reported by every command, and none of them opens a page', async () => {
    const { run, server, pages, file } = await deadLogin();
    const { url } = server;
    for (const args of [
      ['list', url],
      ['call', url, 'read'],
      ['read', url, 'file:///x'],
      ['probe', url],
      ['list', '--config', file, 'issues'],
      ['login', url, '--print-token'],
    ]) {
      const { code, stderr } = await run(args);
      expect([args[0], code]).toEqual([args[0], 5]);
      expect(stderr).toContain('isthmus login');
    }
    expect((await run(['check', url])).code).not.toBe(0);
    expect((await run(['doctor', '--config', file])).code).toBe(1);
    expect((await run(['login', '--status'])).stdout).toContain('needs login');
    expect(pages()).toHaveLength(1);
  }, 120_000);

  it('is reported by attach and by a gateway, also when they try again', async () => {
    const stage = await deadLogin();
    const { server, pages, file, host } = stage;
    const refusal = /needs a login/;
    for (let start = 0; start < 2; start += 1) {
      await expect(host(['--url', server.url])).rejects.toThrow(refusal);
      await expect(host(['--url', server.url, '--auth', 'never'])).rejects.toThrow('401');
    }
    const address = await gatewayOf(stage, file);
    await eventually(async () => expect((await fetch(new URL('/readyz', address))).status).toBe(503));
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await expect(connect(http(address), { mode: 'modern', cache: false })).rejects.toThrow(refusal);
    }
    expect(pages()).toHaveLength(1);
  }, 120_000);
});
