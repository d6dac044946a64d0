// vitest run
import { fileURLToPath } from 'node:url';
import { assertSound, testServer } from 'isthmus/check';
import { describe, expect, test } from 'vitest';

const server = { command: process.execPath, args: [fileURLToPath(new URL('./server.js', import.meta.url))] };

// As its users start it. A test for every check; what does not apply is skipped, and says why.
describe('the tools of weather', () => {
  testServer(test, server, { suites: ['tools'] });
});

// Or one test for all, in your own words.
test('weather answers pings', async () => {
  const report = await assertSound(server, { only: ['ping/*'] });
  expect(report.counts.pass).toBeGreaterThan(0);
});
