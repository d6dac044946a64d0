import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { checkServer, commandTarget } from '../../../src/index.js';
import { expectCaught, IN_A_HURRY } from '../../support/suites/expect-caught.js';
import { lifetimeMutants } from '../mutants/lifetime.js';

expectCaught('the checks of the lifetime', lifetimeMutants);

describe('the checks of streams and of the lifetime', () => {
  const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

  it.concurrent.each([
    ['the demo', [file('../../../../../bin/isthmus.js'), 'demo']],
    ['the server that mutants of processes are made of', [file('../mutants/programs/small-server.js')]],
  ])('hold for %s as a command', async (_who, args) => {
    const target = commandTarget({ command: process.execPath, args });
    const only = ['lifetime/*', 'end-of-input/*', 'stream/*'];
    // A busy machine is no fault of theirs.
    const patience = { helloMs: 20_000, answerMs: 10_000, quietMs: 100, checkMs: 30_000 };
    const report = await checkServer(target, { ...IN_A_HURRY, only, patience });
    expect(report.findings.filter(({ outcome }) => outcome !== 'pass' && outcome !== 'skip')).toEqual([]);
    expect(report.counts.pass).toBeGreaterThan(15);
  });
});
