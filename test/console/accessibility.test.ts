/** axe-core on every screen, light and dark: no violation, and no list of exceptions. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { ISTHMUS } from '../support/child.js';
import { expectSound } from './support/axe.js';
import { goTo, isInView, sizeOfDocument } from './support/in-page.mjs';
import { startInspect } from './support/start-inspect.js';
import { startServe } from './support/start-serve.js';
import { openWatched } from './support/watched-page.js';

const EVERYTHING = 'node_modules/@modelcontextprotocol/server-everything/dist/index.js';
const INSPECT = [
  ...['#/', '#/tools', '#/tools/get-sum', '#/tools/no-such-tool', '#/resources', '#/prompts'],
  ...['#/prompts/completable-prompt', '#/calls', '#/questions', '#/listens', '#/logs', '#/wire', '#/frame/6'],
  ...['#/check', '#/timing', '#/no-such-screen'],
];
const GATEWAY = [
  ...['#/', '#/calls', '#/questions', '#/callers', '#/logs', '#/wire', '#/settings', '#/server/demo'],
  ...['tools', 'tools/echo', 'resources', 'prompts', 'listens', 'calls', 'timing', 'logs'].map(
    (screen) => `#/server/demo/${screen}`,
  ),
  '#/server/no-such-server',
];

describeInBrowser('every screen of the console', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it('has no violation of axe where one server is inspected', async () => {
    const link = await startInspect([process.execPath, EVERYTHING]);
    const { page } = await openWatched(browser, link);
    await page.getByRole('heading', { name: 'Why legacy?' }).waitFor();
    await page.getByRole('link', { name: /^\d+ tools$/ }).waitFor();
    for (const screen of INSPECT) await isSound(page, screen);
    // A link to a frame leads to its row, also where the list followed the newest one.
    await page.evaluate(goTo, '#/wire');
    await page.getByText(/^follows/).waitFor();
    await page.evaluate(goTo, '#/frame/1');
    await page.getByRole('row', { selected: true }).waitFor();
    await expect.poll(() => page.getByRole('row', { selected: true }).evaluate(isInView)).toBe(true);
    await page.evaluate(goTo, '#/tools/trigger-elicitation-request');
    await page.getByRole('button', { name: 'Call in both eras' }).click();
    const question = page.getByRole('alertdialog');
    await question.waitFor();
    await isSound(page);
    await isSound(page, '#/questions');
    await question.getByRole('textbox', { name: /^name\b/ }).fill('Ada');
    await question.getByRole('button', { name: 'Accept' }).click();
    await page.evaluate(goTo, '#/calls');
    await page
      .getByRole('row', { name: /trigger-elicitation-request.*ok/ })
      .getByRole('link')
      .first()
      .click();
    await page.getByRole('link', { name: 'Lens', exact: true }).first().click();
    await page.getByRole('region', { name: 'Differences', exact: true }).waitFor();
    await isSound(page);
    await page.getByRole('link', { name: 'Result' }).click();
    await page.getByRole('region', { name: /^Call \d+/ }).waitFor();
    await isSound(page);
    await isSound(page, '#/timing');
    for (const keys of ['?', 'Control+k', 'w']) {
      await page.keyboard.press(keys);
      await isSound(page);
      await page.keyboard.press(keys === 'w' ? keys : 'Escape');
    }
    await page.setViewportSize({ width: 360, height: 780 });
    for (const screen of ['#/', '#/tools', '#/tools/get-sum', '#/wire', '#/frame/6']) {
      await isSound(page, screen);
      expect(await page.evaluate(sizeOfDocument)).toEqual({ width: 360, height: 780 });
    }
    // A second use of the link: the page without a key.
    const { page: door } = await openWatched(browser, link, { expected: /status of 401/ });
    await door.getByRole('alert').getByText('LINK_USED').waitFor();
    await isSound(door);
  }, 180_000);

  it('has no violation of axe where a gateway is shown', async () => {
    const args = ['--name', 'demo', '--', process.execPath, ISTHMUS, 'demo'];
    const { page } = await openWatched(browser, (await startServe(args)).link);
    await page.getByRole('row', { name: /ready/ }).waitFor();
    for (const screen of GATEWAY) await isSound(page, screen);
    await page.setViewportSize({ width: 360, height: 780 });
    for (const screen of ['#/', '#/calls', '#/settings', '#/server/demo']) {
      await isSound(page, screen);
      expect(await page.evaluate(sizeOfDocument)).toEqual({ width: 360, height: 780 });
    }
  }, 180_000);
});

async function isSound(page: Page, screen?: string): Promise<void> {
  if (screen !== undefined) await page.evaluate(goTo, screen);
  await expectSound(page, screen);
}
