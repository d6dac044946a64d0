/** Everything that a newcomer does, without a mouse. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { ISTHMUS } from '../support/child.js';
import { startInspect } from './support/start-inspect.js';
import { openWatched } from './support/watched-page.js';

describeInBrowser('the keyboard alone', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it('calls a tool, answers its question, and opens the lens', async () => {
    const { page } = await openWatched(browser, await startInspect([process.execPath, ISTHMUS, 'demo']));
    await page.getByRole('heading', { name: /^Why/ }).waitFor();
    for (const key of ['g', 't']) await page.keyboard.press(key);
    const tool = page.getByRole('link', { name: /^confirm_delete/ });
    await tool.waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('confirm');
    await tabTo(page, tool);
    await page.keyboard.press('Enter');
    await tabTo(page, page.getByRole('textbox', { name: /^filename/ }));
    await page.keyboard.type('notes.txt');
    await tabTo(page, page.getByRole('button', { name: 'Call in both eras' }));
    await page.keyboard.press('Enter');
    const question = page.getByRole('alertdialog');
    await question.getByText('notes.txt').first().waitFor();
    const confirm = question.getByRole('combobox', { name: /^confirm/ });
    await tabTo(page, confirm);
    await page.keyboard.type('true');
    await expect.poll(() => confirm.inputValue()).toBe('true');
    await tabTo(page, question.getByRole('button', { name: 'Accept' }));
    await page.keyboard.press('Enter');
    const lens = page.getByRole('region', { name: 'Lens' });
    await lens.getByText('✓ ok').waitFor();
    await tabTo(page, page.getByRole('link', { name: 'Result' }));
    await page.keyboard.press('Enter');
    await page
      .getByRole('region', { name: /^Call \d+/ })
      .getByText('notes.txt')
      .first()
      .waitFor();
    await tabTo(page, page.getByRole('link', { name: 'Lens', exact: true }).first());
    await page.keyboard.press('Enter');
    await lens.getByRole('list', { name: 'Frames of the call' }).getByRole('listitem').first().waitFor();
  }, 90_000);
});

/** Presses Tab until the focus is there, and sees that the focus is drawn. */
async function tabTo(page: Page, wanted: Locator): Promise<void> {
  await wanted.waitFor();
  for (let presses = 0; presses < 120; presses += 1) {
    if (await wanted.evaluate((element) => element.matches(':focus-visible'))) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to ${String(wanted)}`);
}
