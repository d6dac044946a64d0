import { expect, it } from 'vitest';
import { checkServer } from '../../../../src/index.js';
import { expectCaught, expectSound, IN_A_HURRY } from '../../../support/suites/expect-caught.js';
import { inPages } from '../../../support/suites/in-pages.js';
import { middleTarget } from '../../../support/suites/stream-middle.js';
import { cacheMutants, pageMutants } from '../../mutants/pages.js';

expectCaught('the checks of pages', pageMutants);
expectCaught('the checks of caching', cacheMutants);
expectSound('the checks of pages and caching', ['pages/*', 'cache/*']);

it('the checks of pages hold for the demo with its tools in pages', async () => {
  const { target, close } = await middleTarget(inPages());
  try {
    const report = await checkServer(target, {
      ...IN_A_HURRY,
      only: ['pages/*', 'cache/one-scope'],
      eras: ['modern'],
    });
    expect(report.findings.map(({ id, outcome }) => `${id} ${outcome}`)).toEqual([
      'cache/one-scope pass',
      'pages/bad-cursor pass',
      'pages/end pass',
      'pages/disjoint pass',
      'pages/cursor-stable pass',
      'pages/cursor-anywhere pass',
      'pages/unique pass',
    ]);
  } finally {
    await close();
  }
});
