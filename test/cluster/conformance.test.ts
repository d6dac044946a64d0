import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runProgram } from '../package/run-program.js';
import { hasClusterTools } from './support.js';

describe.skipIf(!hasClusterTools)(
  'the official conformance suite, with three replicas behind nginx (skipped without redis-server and nginx)',
  () => {
    it('passes as against one process', async () => {
      const cwd = fileURLToPath(new URL('../..', import.meta.url));
      const args = ['conformance/run.js', '--only', 'cluster'];
      const { code, stdout, stderr } = await runProgram(process.execPath, args, { cwd, limitMs: 400_000 });
      expect({ code, summary: summaryIn(stdout) }, `${stdout}\n${stderr}`).toEqual({
        code: 0,
        summary: [
          'cluster 2025-11-25: 30/30 scored scenarios, 69 checks; 3/3 unscored as expected',
          'cluster 2026-07-28: 37/37 scored scenarios, 120 checks; 13/13 unscored as expected',
        ],
      });
    }, 420_000);
  },
);

function summaryIn(stdout: string): readonly string[] {
  return stdout.split('\n').filter((line) => /^cluster \S+: \d/.test(line));
}
