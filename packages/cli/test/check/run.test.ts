/** `isthmus check` from outside: reports, the baseline, and exit codes. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { httpTarget } from '@isthmus/check';
import { http } from '@isthmus/sdk/http';
import { createServer } from '@isthmus/sdk/internal/server/create-server.js';
import { serve } from '@isthmus/sdk/internal/server/serve.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture, ISTHMUS, startChild } from '../../../../test/support/child.js';
import { demoHttpTarget, proxyTarget } from '../../../check/test/support/suites/http-proxy.js';
import type { HttpBase, ProxyHooks } from '../../../check/test/support/suites/mutant.js';
import { demo, freeFolder, isthmus, node } from '../support/isthmus.js';

describe('a sound server', () => {
  it('ends with 0, and --json says everything', async () => {
    const { code, stdout, stderr } = await isthmus('check', await sound(), ...ping, '--seed', '7', '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      format: 1,
      verdict: { passed: true, failOn: 'must', reasons: [] },
      target: { label: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/), transport: 'http' },
      eras: [expect.objectContaining({ era: 'modern' }), expect.objectContaining({ era: 'legacy' })],
      findings: [
        expect.objectContaining({ id: 'ping/answered', era: 'legacy', outcome: 'pass', expected: '' }),
      ],
      counts: { pass: 1, fail: 0, warn: 0, skip: 0, error: 0, accepted: 0 },
      grade: { letter: 'A+', must: 100, should: 100, why: 'All 1 MUST that apply hold.' },
      rules: expect.objectContaining({ 'PING-001': expect.objectContaining({ level: 'MUST' }) }),
      stale: [],
      seed: 7,
      started: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      ms: expect.any(Number),
      version: manifest.version,
    });
  });

  it('is a command, or a name of a configuration file', async () => {
    const folder = freeFolder();
    const [, command, ...args] = demo();
    const file = join(folder, 'mcp.json');
    writeFileSync(file, JSON.stringify({ mcpServers: { trial: { command, args } } }));
    const { code, stdout } = await isthmus('check', '--config', file, 'trial', ...ping);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Grade A\+: All 1 MUST that apply hold\.\n\ntrial\n/);
    expect(stdout).toMatch(/\nPASSED\n$/);
  });

  it('to which nothing applies is not judged sound', async () => {
    const { code, stdout } = await isthmus('check', await sound(), '--only', 'lifetime/*', '--era', 'modern');
    expect(code).toBe(1);
    expect(stdout).toMatch(/\nFAILED: no check applied\n$/);
  });
});

describe('a server that breaks a rule', () => {
  it('ends with 1, and is shown on the terminal and in every file that was asked for', async () => {
    const folder = freeFolder();
    const [junit, sarif, html] = ['a/junit.xml', 'check.sarif', 'page.html'].map((name) =>
      join(folder, name),
    );
    const url = await broken();
    const files = [
      '--junit',
      junit!,
      '--sarif',
      sarif!,
      '--html',
      html!,
      '--sarif-artifact',
      'src/server.ts',
    ];
    const { code, stdout } = await isthmus('check', url, ...ping, ...files);
    expect(code).toBe(1);
    expect(stdout).toMatch(/\nWhat fails \(1\)\n/);
    expect(stdout).toMatch(/\nFAILED: 1 MUST is broken\n$/);
    expect(readFileSync(junit!, 'utf8')).toMatch(/<testsuites [^>]*failures="1"/);
    const [run] = JSON.parse(readFileSync(sarif!, 'utf8')).runs;
    expect(run.tool.driver).toMatchObject({ name: 'isthmus check', version: manifest.version });
    expect(run.results).toMatchObject([
      {
        ruleId: 'ping/answered',
        locations: [{ physicalLocation: { artifactLocation: { uri: 'src/server.ts' } } }],
      },
    ]);
    expect(readFileSync(html!, 'utf8')).toContain('1 MUST is broken');
  });
});

describe('the baseline', () => {
  it('takes in what fails, keeps what the run is not about, and turns red when it is fixed', async () => {
    const file = join(freeFolder(), 'baseline.json');
    const other = { check: 'tools/names-usable', note: 'renamed in v2' };
    writeFileSync(file, JSON.stringify({ version: 1, accepted: [other] }));
    const url = await broken();

    const written = await isthmus('check', url, ...ping, '--baseline', file, '--update-baseline');
    expect([written.code, written.stderr]).toEqual([0, `isthmus: ${file} now accepts 2\n`]);
    expect(JSON.parse(readFileSync(file, 'utf8')).accepted).toEqual([
      { check: 'ping/answered', era: 'legacy' },
      other,
    ]);

    const accepted = await isthmus('check', url, ...ping, '--baseline', file);
    expect(accepted.code).toBe(0);
    expect(accepted.stdout).toMatch(/\nPASSED, with 1 accepted by the baseline\n$/);

    const mended = await isthmus('check', await sound(), ...ping, '--baseline', file);
    expect(mended.code).toBe(1);
    expect(mended.stdout).toContain('ping/answered (legacy) holds now: remove it from the baseline\n');
    expect(mended.stdout).toMatch(/\nFAILED: 1 entry of the baseline is stale\n$/);
  });

  it('that cannot be read is no reason to run anything', async () => {
    const { code, stderr, stdout } = await isthmus(
      'check',
      ...ping,
      '--baseline',
      '/nowhere.json',
      ...demo(),
    );
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(
      /^isthmus: Cannot read --baseline \/nowhere\.json: .*\nhint: --update-baseline creates it\n/,
    );
  });
});

describe('--through', () => {
  const target = node(fixture('server-with-slow-tool.mjs'));

  it('a bridge that is none ends with 0', async () => {
    const { code, stdout } = await isthmus('check', ...ping, '--through', 'env {command...}', ...target);
    expect(stdout).toMatch(
      /\n\nNothing is lost through the bridge \(directly A\+, through the bridge A\+\)\.\n$/,
    );
    expect(code).toBe(0);
  });

  it('one that has a server of its own ends with 1, and --json has both reports', async () => {
    const bridge = `${process.execPath} ${fixture('server-that-prints.mjs')} {command...}`;
    const { code, stdout } = await isthmus('check', ...ping, '--json', '--through', bridge, ...target);
    expect(code).toBe(1);
    const report = JSON.parse(stdout);
    expect(Object.keys(report)).toEqual(['direct', 'through', 'differences']);
    expect(report.through.target.label).toContain('server-that-prints.mjs');
    expect(report.direct.seed).toBe(report.through.seed);
    expect(report.differences.map(({ about }: { about: string }) => about)).toContain('server');
  });

  it('one that dies is shown with its last stderr lines', async () => {
    const bridge = `${process.execPath} ${fixture('child-that-dies-at-start.mjs')} {port}`;
    const { code, stderr } = await isthmus('check', '--through', bridge, ...target);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^isthmus: The bridge ".*" exited with code \d+ before it listened\n {2}\S/);
    const silent = await isthmus('check', ...ping, '--through', '/nowhere/bridge', ...target);
    expect(silent.code).toBe(3);
    expect(silent.stderr).toMatch(/^isthmus: Cannot connect to \/nowhere\/bridge -- /);
  });
});

describe('where there is nothing to judge', () => {
  const RUN_IT = 'Run the command directly to see what it needs. isthmus probe -- ';
  it.each([
    [
      'an address without a server',
      ['http://127.0.0.1:1/mcp'],
      'connection refused',
      'Is the server running?',
    ],
    [
      'a command that does not exist',
      ['--', '/nowhere/server'],
      '/nowhere/server could not be started: command not found: /nowhere/server (ENOENT)',
      RUN_IT,
    ],
    [
      'a command that dies at once, whose last words are shown',
      ['--', process.execPath, '-e', 'console.error("missing API key"); process.exit(1)'],
      'the process exited with code 1; stderr: missing API key',
      RUN_IT,
    ],
  ])('%s', async (_, words, evidence, hint) => {
    const { code, stdout, stderr } = await isthmus('check', ...words);
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toMatch(/^isthmus: Cannot connect to /);
    expect(stderr).toContain(`\n  ${evidence}\nhint: ${hint}`);
  });

  it('a port that does not speak TLS', async () => {
    const server = createHttpServer((_, response) => void response.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    expect(await isthmus('check', url)).toMatchObject({
      code: 3,
      stderr:
        `isthmus: Cannot connect to ${url}\n  its port does not speak TLS (https)\n` +
        'hint: Write http:// instead of https://, or another port\n',
    });
  });

  it('a server that speaks neither era', async () => {
    const { code, stdout, stderr } = await isthmus('check', '--', 'cat');
    expect([code, stdout]).toEqual([4, '']);
    expect(stderr).toMatch(/^isthmus: cat speaks no era of MCP that was tried, so it cannot be checked\n/);
    expect(stderr).toMatch(/\n {2}modern: .*\n {2}legacy: .*\nhint: isthmus probe -- cat shows more\n$/);
  });
});

describe('a server that wants a login', () => {
  it('is named as such, with what to type', async () => {
    const server = createHttpServer((request, response) => {
      request.resume();
      response.writeHead(401, { 'www-authenticate': 'Bearer' }).end('{"error":"no token"}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    const { code, stdout, stderr } = await isthmus('check', url);
    expect([code, stdout]).toEqual([5, '']);
    expect(stderr).toBe(
      `isthmus: ${url} wants a login or a key (HTTP 401), so it cannot be checked\n` +
        `hint: --header "Authorization: Bearer …" sends a key or a token; isthmus login ${url} logs in. ` +
        `isthmus probe ${url} shows what the login needs\n`,
    );
  });
});

describe('Ctrl-C', () => {
  it('does not wait for a server that says nothing, and leaves none behind', async () => {
    const file = join(freeFolder(), 'pids');
    const silent = `require('node:fs').appendFileSync(${JSON.stringify(file)}, process.pid + ' '); process.stdin.resume()`;
    const child = startChild(ISTHMUS, { args: ['check', '--', process.execPath, '-e', silent] });
    const pids = () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split(' ').map(Number) : []);
    await expect.poll(() => pids().length).toBe(2);
    child.kill('SIGINT');
    expect(await child.exit(10_000)).toMatchObject({ code: 130 });
    expect(child.stderr).toBe('isthmus: Interrupted; nothing was checked\n');
    await expect.poll(() => pids().filter(isAlive)).toEqual([]);
  });

  it('later shows what was done until then', async () => {
    let requests = 0;
    const url = await behind(demoHttpTarget, {
      request() {
        requests += 1;
        if (requests === 200) child.kill('SIGINT');
        return undefined;
      },
    });
    const lines: string[] = [];
    const child = startChild(ISTHMUS, {
      args: ['check', url, '--suite', 'protocol', '--suite', 'http'],
      onLine: (line) => lines.push(line),
    });
    expect(await child.exit()).toMatchObject({ code: 130 });
    expect(child.stderr).toBe('isthmus: Interrupted; the report above has the checks that were finished\n');
    expect(lines[0]).toMatch(/^No grade: The run was interrupted after \d+ of \d+ checks, so there is/);
    expect(lines.at(-1)).toMatch(/^FAILED: the run was interrupted after \d+ of \d+ checks/);
  });
});

const ping = ['--only', 'ping/answered'];
const manifest = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'));

async function sound(): Promise<string> {
  const { target, close } = await smallServer();
  onTestFinished(close);
  return target.url.href;
}

/** The same, but it does not know `ping`. */
function broken(): Promise<string> {
  return behind(smallServer, {
    request({ json }) {
      if (json?.['method'] !== 'ping') return undefined;
      const error = { code: -32601, message: 'What is that?' };
      const body = JSON.stringify({ jsonrpc: '2.0', id: json['id'], error });
      return { respond: { status: 200, headers: { 'content-type': 'application/json' }, body } };
    },
  });
}

async function behind(base: HttpBase, hooks: ProxyHooks): Promise<string> {
  const { target, close } = await proxyTarget(() => hooks, base);
  onTestFinished(close);
  return target.url.href;
}

const smallServer: HttpBase = async () => {
  const server = createServer({ name: 'trial', version: '1.0.0' });
  server.tool('hello', { description: 'Greets', annotations: { readOnlyHint: true } }, () => 'Hello');
  const served = await serve(server, http({ port: 0 }));
  return { target: httpTarget(served.addresses[0]!), close: () => served.close({ graceMs: 0 }) };
};

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
