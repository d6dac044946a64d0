/** A finding of the referee in the page, with what went over the wire. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { expectSound } from './support/axe.js';
import { startInspect } from './support/start-inspect.js';
import { openWatched } from './support/watched-page.js';

const WRONG_IDS = ['test/programs/server-with-wrong-ids.mjs', 'modern'];

describeInBrowser('the referee in the page', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it('shows a finding that fails: what was seen, how to mend it, and its wire', async () => {
    const { page } = await openWatched(browser, await startInspect([process.execPath, ...WRONG_IDS]));
    await page.getByRole('link', { name: 'Check', exact: true }).click();
    await page.getByLabel('Suite').selectOption({ value: 'protocol' });
    await page.getByRole('button', { name: 'Check the server' }).click();
    const title = 'Returns the id unchanged for a request with the id 0';
    const finding = page.getByRole('listitem').filter({ hasText: title });
    await finding.getByText('✕ fail').waitFor({ timeout: 60_000 });
    await finding.getByText(title).click();
    await finding.getByText('a request with the id 0 was answered under "0"').waitFor();
    await finding.getByText('ids/zero', { exact: true }).waitFor();
    await finding.getByText('mend').first().waitFor();
    await expectSound(page, 'a finding');
    const lines = (await finding.locator('pre').innerText()).split('\n');
    expect(lines[0]).toMatch(/^→ \{"jsonrpc":"2\.0","id":0,"method":"server\/discover"/);
    expect(lines[1]).toMatch(/^← \{"jsonrpc":"2\.0","id":"0","result":/);
  }, 120_000);
});
