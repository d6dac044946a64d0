/** `isthmus probe`: what a server is, why, and warnings about it. */
import { describe, expect, it } from 'vitest';
import { fixture } from '../../../../test/support/child.js';
import { demo, EVERYTHING, FILESYSTEM, freeFolder, isthmus, node } from '../support/isthmus.js';

describe('isthmus probe', () => {
  it('tells a modern server from a legacy one, and why', async () => {
    const modern = await isthmus('probe', ...demo());
    expect(modern).toMatchObject({ code: 0, stderr: '' });
    expect(modern.stdout).toContain('era           modern, revision 2026-07-28\n');
    expect(modern.stdout).toContain('because       It answered server/discover\n');
    expect(modern.stdout).toContain('server        Isthmus demo (isthmus-demo 1.0.0)\n');
    expect(modern.stdout).toContain('warnings      none\n');
    const legacy = await isthmus('probe', ...demo('--era', 'legacy'));
    expect(legacy.code).toBe(0);
    expect(legacy.stdout).toContain('era           legacy, revision 2025-11-25\n');
    expect(legacy.stdout).toContain('-32601');
  });

  it('--json has everything, for programs', async () => {
    const { code, report } = await probe(...demo());
    expect(code).toBe(0);
    expect(report).toMatchObject({
      era: 'modern',
      revision: '2026-07-28',
      supportedVersions: ['2026-07-28'],
      verdict: { why: 'it answered server/discover', source: 'probe', ms: expect.any(Number) },
      server: { name: 'isthmus-demo', version: '1.0.0' },
      instructions: 'A server to try things on. Start with the tool echo.',
      capabilities: { tools: { listChanged: true } },
      counts: { tools: expect.any(Number), resources: 4, templates: 1, prompts: 5 },
      timings: { connectMs: expect.any(Number), toolsMs: expect.any(Number), totalMs: expect.any(Number) },
      odd: [],
    });
  });

  it.each([
    { what: 'silence', program: ['server-answers-discover-with.mjs', 'garbage'], odd: 'silent-on-discover' },
    { what: 'noise', program: ['server-with-banners.mjs'], odd: 'noise-on-stdout' },
    { what: 'an exit', program: ['server-exits-on-discover.mjs'], odd: 'exits-on-probe' },
    {
      what: 'an error without id',
      program: ['server-answers-discover-with.mjs', 'no-id'],
      odd: 'error-without-id',
    },
    { what: 'another code', program: ['server-answers-discover-with.mjs', '-32000'], odd: 'odd-refusal' },
    { what: 'answers to nobody', program: ['server-with-wrong-ids.mjs'], odd: 'dropped' },
    {
      what: 'an unknown version',
      program: ['server-rejects-versions.mjs', '2026-07-28,2027-01-01', 'first'],
      odd: 'unknown-versions',
    },
  ])('finds $what odd', async ({ program: [name, ...args], odd }) => {
    const { code, report } = await probe(...node(fixture(name!), ...args));
    expect(code).toBe(0);
    expect(report.odd.map((each) => each.code)).toContain(odd);
  });

  it('finds a server odd that did not send its name and cannot list what it declares', async () => {
    const { code, report, stdout } = await probe(...node('-e', FACELESS));
    expect(code).toBe(0);
    expect(stdout).toContain('-32603');
    expect(report.odd.map((each) => each.code)).toEqual([
      'odd-version-error',
      'no-server-info',
      'list-fails',
    ]);
    expect(report.counts).toEqual({ tools: null, resources: null, templates: null, prompts: null });
  });

  it('finds nothing odd about the official servers', async () => {
    const everything = await probe(...node(EVERYTHING));
    expect(everything.report).toMatchObject({
      era: 'legacy',
      server: { name: 'mcp-servers/everything' },
      odd: [],
    });
    const files = await probe(...node(FILESYSTEM, freeFolder()));
    expect(files.report).toMatchObject({
      era: 'legacy',
      counts: { tools: 14, resources: null, templates: null, prompts: null },
      odd: [],
    });
  });

  it('asks every time, unless --cache says to believe what was remembered', async () => {
    const target = demo('--era', 'legacy');
    const [, ...command] = target;
    await isthmus('list', '--env', 'REMEMBER=1', '--', ...command);
    const asked = await probe('--env', 'REMEMBER=1', '--', ...command);
    expect(asked.report.verdict).toMatchObject({ source: 'probe' });
    const remembered = await probe('--cache', '--env', 'REMEMBER=1', '--', ...command);
    expect(remembered.report.verdict).toMatchObject({ source: 'cache', era: 'legacy' });
  });

  it('--era insists', async () => {
    const { report } = await probe('--era', '2025-06-18', ...demo());
    expect(report).toMatchObject({ era: 'legacy', revision: '2025-06-18', verdict: { source: 'mode' } });
    const refused = await isthmus('probe', '--era', 'modern', ...demo('--era', 'legacy'));
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain('Leave --era out');
  });
});

/** A modern server that refuses the first version without saying what it speaks, and fails at its own list. */
const FACELESS = `
let asked = 0;
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  const send = (rest) => console.log(JSON.stringify({ jsonrpc: '2.0', id, ...rest }));
  if (id === undefined) return;
  if (method === 'server/discover' && asked++ === 0) send({ error: { code: -32022, message: 'no', data: 7 } });
  else if (method === 'server/discover') {
    send({ result: { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } } });
  } else send({ error: { code: -32603, message: 'broken' } });
});`;

interface Report {
  readonly odd: { readonly code: string; readonly message: string }[];
  readonly verdict: object;
  readonly counts: object;
  readonly [key: string]: unknown;
}

async function probe(...args: string[]) {
  const { code, stdout } = await isthmus('probe', '--json', ...args);
  return { code, stdout, report: JSON.parse(stdout) as Report };
}
