/** `isthmus bench` against real servers: numbers that hold together, exit codes, Ctrl-C, and bad options. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { BenchReport } from '@isthmus/check/internal/bench/model.js';
import { describe, expect, it } from 'vitest';
import { ISTHMUS, startChild } from '../../../../test/support/child.js';
import { benchCommand } from '../../src/commands/bench.js';
import { demo, EVERYTHING, freeFolder, isthmus, node } from '../support/isthmus.js';

const OFFICIAL_V2 = fileURLToPath(
  new URL('../../../../test/interop/peers/official-v2-server.mjs', import.meta.url),
);
const short = ['--duration', '0.3', '--warmup', '0.1'];

describe('isthmus bench', () => {
  it('--json has everything, for programs', async () => {
    const { code, report, stderr } = await bench('--concurrency', '4', ...demo());
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(report).toEqual({
      load: { kind: 'closed', concurrency: 4, durationMs: 300, warmupMs: 100, turns: 1 },
      machine: { processors: expect.any(Number), loadBefore: expect.any(Number) },
      interrupted: false,
      targets: [
        {
          target: expect.stringContaining('isthmus.js demo'),
          era: 'modern',
          revision: '2026-07-28',
          server: expect.objectContaining({ name: 'isthmus-demo', version: '1.0.0' }),
          request: { method: 'tools/list', params: {} },
          answered: expect.any(Number),
          failed: 0,
          unsent: 0,
          abandoned: 0,
          elapsedMs: expect.any(Number),
          perSecond: expect.any(Number),
          latencyMs: TIMES,
          serviceMs: TIMES,
          errors: [],
          longestSilence: { ms: expect.any(Number), atMs: expect.any(Number), waiting: expect.any(Number) },
          process: process.platform === 'linux' ? COST : null,
          driver: {
            busy: expect.any(Number),
            cpuMicrosPerRequest: expect.any(Number),
            cpu: expect.any(Number),
            longestPauseMs: expect.any(Number),
            lateMs: null,
          },
          gone: false,
          turns: [
            { answered: expect.any(Number), elapsedMs: expect.any(Number), perSecond: expect.any(Number) },
          ],
        },
      ],
      ratios: [],
    });
    const [side] = report.targets;
    const { latencyMs, answered, elapsedMs, perSecond } = side!;
    const { min, p50, p90, p99, p999, max } = latencyMs!;
    expect([min, p50, p90, p99, p999, max]).toEqual(
      [min, p50, p90, p99, p999, max].toSorted((a, b) => a - b),
    );
    expect(perSecond / (answered / elapsedMs)).toBeCloseTo(1000, -1);
    // As many are in flight as were asked for: so says the law of Little.
    expect((perSecond * latencyMs!.mean) / 1000).toBeGreaterThan(2);
    expect((perSecond * latencyMs!.mean) / 1000).toBeLessThan(4.2);
  });

  it('knows the CPU and the memory of a real server', async () => {
    if (process.platform !== 'linux') return;
    const args = JSON.stringify({ bytes: 1_000_000 });
    const light = await bench('--tool', 'big', '--args', '{"bytes": 1}', '--rate', '50', ...demo());
    const heavy = await bench('--tool', 'big', '--args', args, '--rate', '50', ...demo());
    const [a, b] = [light.report.targets[0]!.process!, heavy.report.targets[0]!.process!];
    expect(a).toEqual(COST);
    expect(a.peakRssBytes).toBeGreaterThan(20 * 1024 * 1024);
    expect(b.cpuMicrosPerRequest!).toBeGreaterThan(2 * a.cpuMicrosPerRequest!);
    expect(b.peakRssBytes).toBeGreaterThan(a.peakRssBytes);
  });

  it('measures the official server of v2 and the reference server of v1 side by side', async () => {
    const { code, report } = await bench('--against', `node ${EVERYTHING}`, ...node(OFFICIAL_V2));
    expect(code).toBe(0);
    expect(report.targets).toMatchObject([
      { era: 'modern', server: { name: 'official-v2' }, request: { method: 'tools/list' }, failed: 0 },
      {
        era: 'legacy',
        server: { name: 'mcp-servers/everything' },
        request: { method: 'tools/list' },
        failed: 0,
      },
    ]);
    expect(report.load.turns).toBe(4);
    expect(report.ratios).toHaveLength(1);
  });

  it('ends with 1 when every request fails, and tells why', async () => {
    const { code, stdout } = await isthmus('bench', ...short, '--tool', 'test_error_handling', ...demo());
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /! [\d,]+ × isError, for example: This tool intentionally returns an error for testing\n/,
    );
    expect(stdout).toContain('request  tools/call test_error_handling {}\n');
  });

  it('ends with 4 when the server goes away, and tells why', async () => {
    const { code, report } = await bench('--tool', 'crash', ...demo());
    expect(code).toBe(4);
    expect(report.targets[0]).toMatchObject({
      gone: true,
      answered: 0,
      errors: [{ kind: 'CHILD_EXITED', count: 10, example: expect.stringContaining('stopped with code 1') }],
    });
  });

  it('a server of a file is a target, and one to compare with', async () => {
    const file = `${freeFolder()}/mcp.json`;
    const entry = (...args: string[]) => ({ command: process.execPath, args: [ISTHMUS, 'demo', ...args] });
    writeFileSync(file, JSON.stringify({ mcpServers: { new: entry(), old: entry('--era', 'legacy') } }));
    const { code, report } = await bench('--config', file, 'new', '--against', 'old');
    expect(code).toBe(0);
    expect(report.targets).toMatchObject([
      { target: 'new', era: 'modern' },
      { target: 'old', era: 'legacy' },
    ]);
  });

  it('Ctrl-C prints what was measured until then, and ends with 130', async () => {
    let text = '';
    const args = ['bench', '--json', '--warmup', '0', '--duration', '3600', ...notes()];
    const child = startChild(ISTHMUS, {
      args,
      onLine(line) {
        text += line;
      },
    });
    // The first of its lines says that it is being asked.
    await child.until('the load', () => child.stderr.includes('asked'));
    child.kill('SIGINT');
    const { code } = await child.exit();
    expect(code).toBe(130);
    const report = JSON.parse(text) as BenchReport;
    expect(report.interrupted).toBe(true);
    expect(report.targets[0]!.answered).toBeGreaterThan(0);
  });

  it('Ctrl-C before anything was measured says so', async () => {
    const child = startChild(ISTHMUS, { args: ['bench', '--warmup', '3600', ...notes()] });
    await child.until('the load', () => child.stderr.includes('asked'));
    child.kill('SIGINT');
    expect(await child.exit()).toMatchObject({ code: 130 });
    expect(child.stderr).toContain('isthmus: Interrupted; nothing was measured\n');
  });
});

describe('isthmus bench, asked badly,', () => {
  it.each([
    { args: ['--tool', 'echo', '--args', '[1]'], says: '--args must be a JSON object: [1]' },
    { args: ['--tool', 'echo', '--args', '{a: 1}'], says: '--args is not JSON: {a: 1}' },
    { args: ['--args', '{}'], says: '--args needs --tool NAME' },
    { args: ['--rate', '0'], says: 'It must be a number of requests per second, above 0' },
    { args: ['--concurrency', '1.5'], says: 'It must be a whole number from 1 to 10000' },
    { args: ['--duration', '0'], says: 'It must be a number of seconds, from 0.1 to 86400' },
    { args: ['word'], says: 'Unexpected argument "word": bench takes only a target' },
    { args: ['--header', 'a: b'], says: '--header needs a URL, but the server is a command' },
    {
      args: ['--against', 'http://127.0.0.1:1', '-j', '300'],
      says: '--concurrency 300 is too high for a URL',
    },
  ])('$args is told what is wrong before anything is started', async ({ args, says }) => {
    const command = benchCommand(['there-is-no-such-program']).configureOutput({ writeErr: () => {} });
    await expect(command.parseAsync(args, { from: 'user' })).rejects.toThrow(says);
  });

  it('ends with 2', async () => {
    const ran = await isthmus('bench', '--rate', 'x', ...demo());
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toContain('(isthmus bench --help explains the options)');
  });

  it('names the tool that was meant, and the target that cannot be reached', async () => {
    const unknown = await isthmus('bench', '--tool', 'ecco', ...demo());
    expect(unknown).toMatchObject({ code: 2, stdout: '' });
    expect(unknown.stderr).toContain('isthmus: isthmus-demo has no tool "ecco"\nhint: Did you mean echo?');
    const away = await isthmus('bench', '--against', 'tcp://127.0.0.1:1', ...demo());
    expect(away).toMatchObject({ code: 3, stdout: '' });
    expect(away.stderr).toContain('Cannot connect to tcp://127.0.0.1:1');
  });
});

const TIMES = Object.fromEntries(
  ['min', 'mean', 'p50', 'p90', 'p99', 'p999', 'max'].map((name) => [name, expect.any(Number)]),
);
const COST = {
  cpuMs: expect.any(Number),
  cpuMicrosPerRequest: expect.any(Number),
  peakRssBytes: expect.any(Number),
  processes: 1,
};

async function bench(...args: string[]) {
  const { code, stdout, stderr } = await isthmus('bench', '--json', ...short, ...args);
  if (stdout === '') throw new Error(`no report: ${stderr}`);
  return { code, stderr, report: JSON.parse(stdout) as BenchReport };
}

/** A server that says on stderr when it has been asked a few times. */
function notes(): string[] {
  return ['--stderr', ...node('-e', NOTES)];
}

const NOTES = `
let asked = 0;
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  const send = (result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...result } }));
  if (method === 'server/discover') send({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} } });
  else if (method === 'tools/list') send({ tools: [] });
  if (++asked === 100) console.error('asked');
});`;
