import { expect, it } from 'vitest';
import { checkServer } from '../../src/index.js';
import { loadMutants } from './mutants/load.js';
import { dies } from './mutants/vices.js';
import { expectCaught, expectSound, IN_A_HURRY } from './support/expect-caught.js';
import { middleTarget } from './support/stream-middle.js';

expectCaught('the checks of load', loadMutants);
expectSound('the checks of load', ['flood/*', 'stall/*', 'end-of-input/*', 'fuzz/*', 'stream/*']);

it('shows the smallest input that does harm, and finds it again by the seed', async () => {
  const { middle } = dies(
    'fuzz/bytes',
    'more than 12 bytes',
    (line) => line.length > 12 && line.length < 40 && !line.includes('"'),
  );
  const inputs: (string | undefined)[] = [];
  for (const seed of [7, 7]) {
    const { target, close } = await middleTarget(middle);
    try {
      const { findings } = await checkServer(target, {
        ...IN_A_HURRY,
        only: ['fuzz/bytes'],
        seed,
        fuzzRuns: 300,
      });
      inputs.push(findings[0]!.input);
    } finally {
      await close();
    }
  }
  expect(inputs[0]).toBe(`bytes in hex: ${'00'.repeat(13)}`);
  expect(inputs[1]).toBe(inputs[0]);
});
