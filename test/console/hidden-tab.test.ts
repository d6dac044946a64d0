/** A tab that nobody sees lets go of its stream, and has everything when it is seen again. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { ISTHMUS } from '../support/child.js';
import { goTo, hide } from './support/in-page.mjs';
import { startInspect } from './support/start-inspect.js';
import { openWatched } from './support/watched-page.js';

describeInBrowser('a hidden tab', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it('ends its stream after 30 s, and catches up when it is seen', async () => {
    const link = await startInspect([process.execPath, ISTHMUS, 'demo']);
    const { page: one } = await openWatched(browser, link, { expected: /window/ });
    await one.getByRole('heading', { name: /^Why/ }).waitFor();
    const two = await one.context().newPage();
    const ended = two.waitForEvent('requestfailed', (request) => request.url().endsWith('/console/api/feed'));
    const opened = () => two.waitForRequest(/\/console\/api\/feed$/);
    await two.clock.install();
    await two.goto(`${new URL('./', link).href}#/wire`);
    await two
      .getByRole('row', { name: /server\/discover/ })
      .first()
      .waitFor();
    await two.evaluate(hide, true);
    await two.clock.runFor(29_000);
    await two.clock.runFor(2000);
    await ended;
    const before = await two.getByRole('grid').getAttribute('aria-rowcount');
    // The first tab works on meanwhile.
    await one.evaluate(goTo, '#/tools/echo');
    await one.getByRole('textbox', { name: /^text/ }).fill('while nobody looked');
    await one.getByRole('button', { name: /^Call Ctrl|^Call$/ }).click();
    await one
      .getByRole('region', { name: /^Call \d+/ })
      .getByText('✓ ok')
      .waitFor();
    expect(await two.getByRole('grid').getAttribute('aria-rowcount')).toBe(before);
    const again = opened();
    await two.evaluate(hide, false);
    await again;
    await two
      .getByRole('row', { name: /tools\/call\s+echo/ })
      .last()
      .waitFor();
    await two.evaluate(goTo, '#/calls');
    await two.getByRole('row', { name: /echo.*ok/ }).waitFor();
  }, 90_000);
});
