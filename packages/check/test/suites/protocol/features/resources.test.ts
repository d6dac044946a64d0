import { expect, it } from 'vitest';
import { checkServer } from '../../../../src/index.js';
import { expectCaught, expectSound, IN_A_HURRY } from '../../../support/suites/expect-caught.js';
import { middleTarget } from '../../../support/suites/stream-middle.js';
import {
  completionMutants,
  iconMutants,
  promptMutants,
  resourceMutants,
  soundIcons,
} from '../../mutants/resources.js';

expectCaught('the checks of resources', resourceMutants);
expectCaught('the checks of prompts', promptMutants);
expectCaught('the checks of completion', completionMutants);
expectCaught('the checks of icons', iconMutants);
expectSound('the checks of resources, prompts and completion', ['resources/*', 'prompts/*', 'completion/*']);

it('the checks of icons hold for the demo with icons', async () => {
  const { target, close } = await middleTarget(soundIcons);
  try {
    const report = await checkServer(target, { ...IN_A_HURRY, only: ['icons/*'], eras: ['modern'] });
    expect(report.findings.map(({ id, outcome }) => `${id} ${outcome}`)).toEqual([
      'icons/safe-source pass',
      'icons/known-type pass',
    ]);
  } finally {
    await close();
  }
});
