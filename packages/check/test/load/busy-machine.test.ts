import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CheckTarget, checkServer, commandTarget, type Finding, httpTarget } from '../../src/index.js';

const ISTHMUS = fileURLToPath(new URL('../../../../bin/isthmus.js', import.meta.url));
const SERVED = fileURLToPath(new URL('./programs/demo-http.mjs', import.meta.url));
const SEEDS = [1, 2];
const LOOPS = 6;

/** A busy machine fails no check: what a server is blamed for must be its own. Takes minutes. */
describe(`the whole catalogue against the demo, with ${LOOPS} busy loops beside it`, () => {
  const loops: ChildProcess[] = [];
  beforeAll(() => {
    for (let count = 0; count < LOOPS; count += 1)
      loops.push(spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
  });
  afterAll(() => {
    for (const loop of loops) loop.kill('SIGKILL');
  });

  for (const seed of SEEDS) {
    it(`holds on stdio, in both eras, with the seed ${seed}`, { timeout: 900_000 }, async () => {
      await expectSound(commandTarget({ command: process.execPath, args: [ISTHMUS, 'demo'] }), seed);
    });

    it(`holds over HTTP, in both eras, with the seed ${seed}`, { timeout: 900_000 }, async () => {
      const child = spawn(process.execPath, [SERVED], { stdio: ['ignore', 'pipe', 'inherit'] });
      try {
        const [address] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
        await expectSound(httpTarget(address), seed);
      } finally {
        child.kill('SIGKILL');
      }
    });
  }
});

async function expectSound(target: CheckTarget, seed: number): Promise<void> {
  const { findings, counts } = await checkServer(target, { callTools: true, seed });
  expect(findings.filter(({ outcome }) => outcome !== 'pass' && outcome !== 'skip').map(toLine)).toEqual([]);
  expect(findings.filter(({ seen }) => seen.startsWith('undecided')).map(toLine)).toEqual([]);
  expect(counts.pass).toBeGreaterThan(400);
}

function toLine({ id, era, outcome, seen }: Finding): string {
  return `${outcome} ${id} ${era ?? ''}: ${seen}`;
}
