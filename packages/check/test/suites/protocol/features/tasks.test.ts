import { expect, it } from 'vitest';
import { checkServer } from '../../../../src/index.js';
import { expectCaught, expectSound, IN_A_HURRY } from '../../../support/suites/expect-caught.js';
import { middleTarget } from '../../../support/suites/stream-middle.js';
import { withTasks } from '../../../support/suites/with-tasks.js';
import { getTask, taskExtensionMutants, taskMutants, withExtension } from '../../mutants/tasks.js';

expectCaught('the checks of tasks', taskMutants);
expectCaught('the checks of the extension for tasks', taskExtensionMutants);
expectSound('the checks of tasks', ['tasks/*']);

it.each([
  ['legacy', withTasks(), ['tasks/ignored', 'tasks/progress-ends']],
  ['modern', withExtension(getTask), []],
] as const)('the checks of tasks hold for the demo with tasks, %s', async (era, middle, skipped) => {
  const { target, close } = await middleTarget(middle);
  try {
    const { findings } = await checkServer(target, { ...IN_A_HURRY, only: ['tasks/*'], eras: [era] });
    const applied = findings.filter((finding) => finding.era === era);
    expect(
      applied.filter(({ outcome }) => outcome !== 'pass').map(({ id, seen, outcome }) => [id, outcome, seen]),
    ).toEqual(skipped.map((id) => [id, 'skip', expect.any(String)]));
    expect(applied.length).toBeGreaterThan(1);
  } finally {
    await close();
  }
});
