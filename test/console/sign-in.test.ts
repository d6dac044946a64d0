/** Who may open the console of a gateway without a link: operators with a key, with their level. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { ISTHMUS } from '../support/child.js';
import { startServe } from './support/start-serve.js';
import { openWatched } from './support/watched-page.js';

const OPS = 'ops-key-0123456789abcdef';
const CI = 'ci-key-0123456789abcdef';

describeInBrowser('the console without a link', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it('opens for a key of an operator with its level, and for no other key', async () => {
    const keys = ['--api-key', `ops=${OPS}`, '--api-key', `ci=${CI}`, '--console-key', 'ops=look'];
    const { link } = await startServe([...keys, '--name', 'demo', '--', process.execPath, ISTHMUS, 'demo']);
    const { page } = await openWatched(browser, new URL('./', link).href, { expected: /status of 401/ });
    await page.getByRole('heading', { name: 'This page needs a link' }).waitFor();
    const key = page.getByLabel(/enter with a key/);
    await key.fill(CI);
    await page.getByRole('button', { name: 'Enter' }).click();
    await page.getByRole('alert').getByText('UNAUTHORIZED').waitFor();
    await key.fill(OPS);
    await page.getByRole('button', { name: 'Enter' }).click();
    await page.getByRole('row', { name: /demo/ }).waitFor();
    expect(await page.getByRole('button', { name: /restart/ }).count()).toBe(0);
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByText('key:ops (look)').waitFor();
    expect(await page.content()).not.toContain(OPS);
  }, 60_000);
});
