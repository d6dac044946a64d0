import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { expect, it } from 'vitest';
import { checkServer } from '../../../src/index.js';
import { expectCaught, expectSound, IN_A_HURRY } from '../../support/suites/expect-caught.js';
import { middleTarget } from '../../support/suites/stream-middle.js';
import { dies } from '../mutants/faults.js';
import { loadMutants } from '../mutants/load.js';

expectCaught('the checks of load', loadMutants);
expectSound('the checks of load', ['flood/*', 'stall/*', 'end-of-input/*', 'fuzz/*', 'stream/*']);

/** Dies of any line of 13 to 39 bytes. */
const { middle: diesOfThirteenBytes } = dies(
  'fuzz/bytes',
  'more than 12 bytes',
  (line) => line.length > 12 && line.length < 40 && !line.includes('"'),
);

it('shows the smallest input that does harm, and finds it again by the seed', async () => {
  const inputs: (string | undefined)[] = [];
  for (const seed of [7, 7]) {
    const { target, close } = await middleTarget(diesOfThirteenBytes);
    try {
      const { findings } = await checkServer(target, {
        // It takes about 1,100 tries: seconds on an idle machine, far longer on a busy one.
        patience: { ...IN_A_HURRY.patience, answerMs: 30_000, checkMs: 240_000 },
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
}, 300_000);

it('says so when time ran out before the smallest input was found', async () => {
  let timeRunsOut = () => {};
  let deaths = 0;
  const { target, close } = await middleTarget(() => {
    const { incomingLine, ...rest } = diesOfThirteenBytes();
    return {
      ...rest,
      incomingLine(line, io) {
        const passed = incomingLine!(line, io);
        if (passed === undefined && ++deaths === 3) timeRunsOut();
        return passed;
      },
    };
  });
  try {
    const { findings } = await checkServer(target, {
      ...IN_A_HURRY,
      only: ['fuzz/bytes'],
      seed: 7,
      fuzzRuns: 300,
      clock: {
        ...systemClock,
        after(ms, action, options) {
          if (ms === IN_A_HURRY.patience!.checkMs! / 2) timeRunsOut = action;
          return systemClock.after(ms, action, options);
        },
      },
    });
    expect(findings[0]).toMatchObject({
      outcome: 'warn',
      seen: expect.stringContaining('(seed 7; time ran out before the smallest such input was found)'),
      input: expect.stringMatching(/^bytes in hex: .{27,}$/),
    });
  } finally {
    await close();
  }
});
