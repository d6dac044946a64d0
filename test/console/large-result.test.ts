/** A result of 5 MB: its beginning is shown, and the page stays quick. */
import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { startInspect } from './support/start-inspect.js';
import { openWatched } from './support/watched-page.js';

const FIVE_MB = 'test/programs/server-sends-5mb.mjs';

describeInBrowser('a result of 5 MB', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it('is shown by its beginning, and is saved whole', async () => {
    const { page } = await openWatched(browser, await startInspect([process.execPath, FIVE_MB]));
    await page.getByRole('link', { name: /^Tools/ }).click();
    await page.getByRole('link', { name: /^big/ }).click();
    await page.getByRole('button', { name: /^Call Ctrl|^Call$/ }).click();
    const call = page.getByRole('region', { name: /^Call \d+/ });
    await call.getByText(/^The result has 5\.\d MB\.$/).waitFor();
    expect((await call.innerText()).length).toBeLessThan(30_000);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      call.getByRole('button', { name: 'Save its first content' }).click(),
    ]);
    const saved = await readFile(await download.path(), 'utf8');
    expect(saved.length).toBe(5_000_000);
    expect(saved.slice(-3)).toBe('end');
  }, 90_000);
});
