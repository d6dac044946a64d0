// The examples are programs that assert: examples/<story>/main.ts, importing the built package by its name.
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { inRoot } from './setup/paths.js';
import { describeEnd, run } from './setup/run.js';
import { tsc } from './setup/tools.js';

const limitMs = 60_000;
// Named for this run: another one may be under way in the same checkout.
const compiled = inRoot('.cache/examples', String(process.pid));

/** Compiles every story, runs it, and shows the output of those that fail. */
export async function examples() {
  const stories = await listStories();
  if (stories.length === 0) return { passed: 0, failed: 0, note: 'there are none' };
  try {
    const args = [tsc, '-p', 'tsconfig.examples.json', '--outDir', compiled];
    const result = await run(process.execPath, args, { output: 'inherit' });
    if (!result.ok) return { passed: 0, failed: 1, note: `compiling: ${describeEnd(result)}` };
    return await tellAll(stories);
  } finally {
    await rm(compiled, { recursive: true, force: true });
  }
}

async function tellAll(stories) {
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
  const result = await run(process.execPath, [join(compiled, story, 'main.js')], { limitMs });
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
