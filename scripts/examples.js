// The examples are programs that assert: examples/<story>/main.ts, importing the built package by its name.
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { inRoot } from './setup/paths.js';
import { describeEnd, run } from './setup/run.js';
import { tsc } from './setup/tools.js';

const limitMs = 60_000;
// Named for this run: another one may be under way in the same checkout.
const compiled = inRoot('.cache/examples', String(process.pid));

/** Compiles every story, runs it, and returns the output of those that fail. */
export async function examples() {
  const stories = await listStories();
  if (stories.length === 0) return { passed: 0, failed: 0, note: 'there are none' };
  try {
    const args = [tsc, '-p', 'tsconfig.examples.json', '--outDir', compiled];
    const result = await run(process.execPath, args);
    if (!result.ok) {
      const note = `compiling: ${describeEnd(result)}`;
      return { passed: 0, failed: 1, note, failures: [{ name: 'examples', error: result.output }] };
    }
    return await tellAll(stories);
  } finally {
    await rm(compiled, { recursive: true, force: true });
  }
}

async function tellAll(stories) {
  const failures = [];
  for (const story of stories) {
    const error = await tell(story);
    if (error !== undefined) failures.push({ name: `examples/${story}`, error });
  }
  return { passed: stories.length - failures.length, failed: failures.length, failures };
}

/** Resolves with what was wrong, if anything was. */
async function tell(story) {
  if (!(await exists(inRoot('examples', story, 'main.ts')))) {
    console.log(`✗ ${story}: examples/${story}/main.ts is missing`);
    return 'its main.ts is missing';
  }
  const result = await run(process.execPath, [join(compiled, story, 'main.js')], { limitMs });
  const end = describeEnd(result);
  console.log(`${result.ok ? '✓' : '✗'} ${story}: ${end}`);
  return result.ok ? undefined : `${end}\n${result.output.trimEnd()}`;
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
