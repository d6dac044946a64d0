// The examples are programs that assert: examples/<story>/main.ts, importing the built package by its name.
import { readdir, rm, stat } from 'node:fs/promises';
import { inRoot } from './setup/paths.js';
import { describeEnd, run } from './setup/run.js';
import { tsc } from './setup/tools.js';

const limitMs = 60_000;

/** Compiles every story, runs it, and shows the output of those that fail. */
export async function examples() {
  const stories = await listStories();
  if (stories.length === 0) return { passed: 0, failed: 0, note: 'there are none' };
  await rm(inRoot('.cache/examples'), { recursive: true, force: true });
  const compiled = await run(process.execPath, [tsc, '-p', 'tsconfig.examples.json'], { output: 'inherit' });
  if (!compiled.ok) return { passed: 0, failed: 1, note: `compiling: ${describeEnd(compiled)}` };
  const count = { passed: 0, failed: 0 };
  for (const story of stories) {
    const ok = await tell(story);
    count[ok ? 'passed' : 'failed'] += 1;
  }
  return count;
}

async function tell(story) {
  if (!(await exists(inRoot('examples', story, 'main.ts')))) {
    console.log(`✗ ${story}: examples/${story}/main.ts is missing`);
    return false;
  }
  const result = await run(process.execPath, [inRoot('.cache/examples', story, 'main.js')], { limitMs });
  console.log(`${result.ok ? '✓' : '✗'} ${story}: ${describeEnd(result)}`);
  if (!result.ok) console.log(result.output.trimEnd().replace(/^/gm, '    '));
  return result.ok;
}

async function listStories() {
  const entries = await readdir(inRoot('examples'), { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

function exists(path) {
  return stat(path).then(
    () => true,
    () => false,
  );
}
