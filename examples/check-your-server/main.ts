// Server authors run the referee in their own tests: with node:test, with vitest, or with anything that can await.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createServer } from 'isthmus';
import { assertSound, NotSound } from 'isthmus/check';
import { startVitest } from 'vitest/node';

const here = fileURLToPath(new URL('.', import.meta.url));

// node:test
const { stdout, status } = spawnSync(
  process.execPath,
  ['--test', '--test-reporter=tap', 'weather.node-test.js'],
  { cwd: here, encoding: 'utf8', env: withoutTestRunner() },
);
assert.equal(status, 0, stdout);
assert.match(stdout, /^ *ok \d+ - the server can be checked$/m);
assert.match(stdout, /^ *ok \d+ - suite protocol$/m);
assert.match(stdout, /^ *ok \d+ - suite tools$/m);

// vitest
const vitest = await startVitest('test', [], {
  root: here,
  config: false,
  include: ['*.vitest.js'],
  reporters: [{}],
  watch: false,
});
const [file] = vitest.state.getTestModules();
const results = [...(file?.children.allTests() ?? [])].map((each) => [each.name, each.result()] as const);
await vitest.close();
assert.deepEqual(file?.state(), 'passed', JSON.stringify(results));
assert.ok(results.some(([name, { state }]) => name === 'weather answers pings' && state === 'passed'));
const skipped = results.flatMap(([, result]) => (result.state === 'skipped' ? [result.note] : []));
assert.ok(skipped.every((note) => note !== undefined && note !== ''));

// What a server that breaks a rule reads.
const broken = createServer({ name: 'broken', version: '1.0.0' });
broken.tool('forecast today', { description: 'Its name has a space' }, () => 'rain');
const complaint = await assertSound({ server: broken }, { suites: ['tools'], failOn: 'should' }).then(
  () => assert.fail('It is not sound'),
  (error: unknown) => error,
);
assert.ok(complaint instanceof NotSound);
assert.match(complaint.message, /^broken, in this process is not sound: 2 SHOULD are broken/);
assert.match(
  complaint.message,
  /^! Names its tools .* \(modern, legacy\)\n {2}check {5}tools\/names-usable\n {2}rule {6}TOOL-009/m,
);

console.log(complaint.message);

/** A test runner that is started by another must not take itself for a part of it. */
function withoutTestRunner(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env;
  return env;
}
