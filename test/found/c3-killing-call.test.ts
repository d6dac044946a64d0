import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type CheckOptions, checkServer, httpTarget, type Report, verdictOf } from '@isthmus/check';
import { describe, expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('./programs/dying-http-server.mjs', import.meta.url));

describe('C3: a tool that ends the server over HTTP', { timeout: 90_000 }, () => {
  it('C3: is named, and only what was seen before is judged', async () => {
    const report = await judge('at-once', { callTools: true });
    expect(report.goneAfter).toBe('tools/call of reset');
    const broken = report.findings.filter(({ outcome }) => outcome === 'fail' || outcome === 'error');
    expect(broken.map(({ id }) => id)).toEqual([]);
    const warned = report.findings.filter(({ outcome }) => outcome === 'warn').map(({ id }) => id);
    expect(warned).toContain('tools/calls-survived');
    const survived = report.findings.find(({ id }) => id === 'tools/calls-survived');
    expect(survived?.seen).toBe('tools/call of reset with {} ended the server; it was the last call');
    expect(report.findings.find(({ id }) => id === 'ping/answers' || id === 'discover/again')).toMatchObject({
      outcome: 'skip',
      seen: 'the server was gone after tools/call of reset',
    });
    expect(report.counts.pass).toBeGreaterThan(5);
  });

  it('C3: fails the run with a reason and a grade that say so', async () => {
    const report = await judge('at-once', { callTools: true, eras: ['legacy'] });
    expect(verdictOf(report)).toEqual({
      passed: false,
      reasons: ['the server was gone after tools/call of reset, so only what was seen before is judged'],
    });
    expect(report.grade.letter).toBe('D');
    expect(report.grade.why).toMatch(
      /^The server was gone after tools\/call of reset. Only what was seen before counts/,
    );
  });

  it('C3: is not called without leave, and the server is judged as ever', async () => {
    const report = await judge('at-once', { only: ['tools/*', 'discover/*'] });
    expect(report.goneAfter).toBeUndefined();
    expect(report.findings.filter(({ outcome }) => outcome === 'fail')).toEqual([]);
  });
});

async function judge(when: string, options: CheckOptions): Promise<Report> {
  const child = spawn(process.execPath, [PROGRAM, when], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [address] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    return await checkServer(httpTarget(address), { seed: 1, ...options });
  } finally {
    child.kill('SIGKILL');
  }
}
