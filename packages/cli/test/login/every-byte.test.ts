/**
 * No token in logs, errors, /status, reports of a crash, `ps` or URLs: logins, renewals, failures and a diagnostic report, with everything that
 * was printed, logged, written to a file or sent in a URL. Then all of it is searched for every secret that there was.
 */
import { execFile, spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { browse } from '../../../../test/support/authorization-server.js';
import { ISTHMUS } from '../../../../test/support/child.js';
import { eventually, until } from '../../../../test/support/until.js';
import { daemonStage } from '../support/daemon-stage.js';

const SECRET = 's3cret-of-the-robot';
const ROBOT = {
  client_id: 'robot',
  client_secret: SECRET,
  grant_types: ['client_credentials'],
  redirect_uris: [],
  response_types: [],
};
const LOUD = { ISTHMUS_DEBUG: '1' };

it('no byte that the run has produced is part of a secret', async () => {
  const stage = await daemonStage({ clients: [ROBOT], accessTokenTtl: 3600 });
  const { run, server, authorization, outputs, home, folder, environment, host } = stage;
  const { url } = server;
  const seen: string[] = [];
  const over = new AbortController();
  onTestFinished(() => over.abort());
  const watching = watchCommandLines(seen, over.signal);

  // A login, calls, a step-up that fails, a response of a browser that is pasted, a wrong one.
  expect((await run(['login', url], { env: LOUD })).code).toBe(0);
  await run(['call', url, 'read'], { env: LOUD });
  await run(['call', url, 'write'], { env: LOUD });
  await run(['list', url, '--json'], { env: LOUD });
  await run(['probe', url], { env: LOUD });
  const callback = 'https://tunnel.example/callback';
  const pasted = await run(['login', url, '--scope', 'mcp:write', '--callback-url', callback], {
    env: { ...LOUD, BROWSER: '', SSH_CONNECTION: '1' },
    async onStart(child, stderr) {
      const [, page = ''] = await until('the page', () => /on this page: (\S+)/.exec(stderr()) ?? undefined);
      child.stdin!.write(`${callback}?code=wrong&state=wrong\n`);
      const { url: end } = await browse(page, { stopAt: callback });
      child.stdin!.end(`${end}\n`);
    },
  });
  expect(pasted.stderr).toContain('That address does not fit');
  expect(pasted.code).toBe(0);
  // What is searched for is what there is.
  expect(stage.tokens()).toHaveLength(2);
  expect(stage.tokens().filter((token) => !authorization.secrets.has(token))).toEqual([]);
  await run(['login', '--status', '--json']);
  const robot = ['--auth', 'client-credentials', '--client-id', 'robot', '--issuer', authorization.issuer];
  const env = { ...LOUD, ISTHMUS_CLIENT_SECRET: SECRET };
  expect((await run(['call', url, 'read', ...robot], { env })).stdout).toBe('read\n');
  await run(['call', url, 'read', ...robot, '--client-id', 'wrong'], { env });

  // A host with the daemon, and a gateway with its pages and its log.
  const client = await host([url], LOUD);
  await client.callTool('read');
  const file = join(home, 'mcp.json');
  writeFileSync(file, JSON.stringify({ mcpServers: { issues: { url } } }));
  const args = [
    'serve',
    '--config',
    file,
    '--listen',
    'http://127.0.0.1:0/mcp',
    '--log-level',
    'trace',
    '--json',
  ];
  const gateway = spawn(process.execPath, [ISTHMUS, ...args], {
    cwd: home,
    env: { ...environment, ...LOUD, NODE_OPTIONS: '--report-on-signal' },
  });
  onTestFinished(() => void gateway.kill('SIGKILL'));
  let said = '';
  for (const stream of [gateway.stdout, gateway.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const address = await until('the address', () => /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(said)?.[0]);
  await eventually(async () => expect((await fetch(new URL('/readyz', address))).status).toBe(200));
  for (const path of ['/status', '/readyz', '/healthz', '/metrics']) {
    seen.push(await (await fetch(new URL(path, address))).text());
  }
  seen.push((await run(['status', '--json'])).stdout, (await run(['doctor', '--config', file])).stdout);

  // A renewal, and one that is refused; then a logout, and a diagnostic report of the gateway.
  for (const secret of stage.tokens()) await authorization.expire(secret);
  await run(['call', url, 'read'], { env: LOUD });
  for (const each of [...authorization.secrets]) {
    await (await authorization.provider.RefreshToken.find(each))?.destroy();
    await authorization.expire(each);
  }
  await run(['call', url, 'read'], { env: LOUD });
  await fetch(`${address}/issues`, { method: 'POST', body: '{}' }).then(async (answer) =>
    seen.push(await answer.text()),
  );
  await run(['logout', url], { env: LOUD });
  gateway.kill('SIGUSR2');
  await until('the report', () => readdirSync(home).some((name) => name.startsWith('report.')) || undefined);
  gateway.kill('SIGTERM');
  await run(['daemon', 'stop']);
  over.abort();
  await watching;

  const secrets = [...authorization.secrets, SECRET];
  expect(secrets.length).toBeGreaterThan(10);
  const urls = [
    ...server.log,
    ...authorization.log,
    ...server
      .received()
      .split('\r\n')
      .filter((line) => /^[A-Z]+ /.test(line)),
  ];
  const files = allFiles(home).filter((name) => !name.startsWith(folder));
  expect(files.length).toBeGreaterThan(1);
  const produced = [
    ...[...outputs, ...seen, said, ...urls].map((text, index) => [`output ${index}`, text] as const),
    ...files.map((name) => [name, readFileSync(name, 'latin1')] as const),
  ];
  // The pages of the log of the browser have a state, and a challenge that is made from the verifier.
  expect(produced.map(([, text]) => text).join('')).toContain('code_challenge');
  const found = produced.flatMap(([where, text]) =>
    secrets.filter((secret) => text.includes(secret)).map((secret) => `${where} has ${kindOf(secret, text)}`),
  );
  expect(found).toEqual([]);
}, 180_000);

/** The command lines of all processes, which every user of the machine can read. */
async function watchCommandLines(seen: string[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { stdout } = await promisify(execFile)('ps', ['-eww', '-o', 'args'], { maxBuffer: 2 ** 24 });
    seen.push(stdout);
    await setTimeout(200);
  }
}

function allFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((name) => statSync(name, { throwIfNoEntry: false })?.isFile() === true);
}

function kindOf(secret: string, text: string): string {
  const at = text.indexOf(secret);
  return text.slice(Math.max(0, at - 60), at).replace(/\s+/g, ' ');
}
