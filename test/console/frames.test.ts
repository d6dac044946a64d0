/** What is done with frames and calls: sent again, edited, sent as bytes, copied as a command, timed. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { ISTHMUS } from '../support/child.js';
import { goTo } from './support/in-page.mjs';
import { startInspect } from './support/start-inspect.js';
import { openWatched } from './support/watched-page.js';

describeInBrowser('a frame of the page', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  /** The demo, after one call of `echo`. */
  async function afterEcho(): Promise<Page> {
    const { page } = await openWatched(browser, await startInspect([process.execPath, ISTHMUS, 'demo']));
    await page.getByRole('heading', { name: /^Why/ }).waitFor();
    await page.evaluate(goTo, '#/tools/echo');
    await page.getByRole('textbox', { name: /^text/ }).fill('first');
    await page.getByRole('button', { name: /^Call Ctrl|^Call$/ }).click();
    await call(page).getByText('✓ ok').waitFor();
    return page;
  }

  it('is sent again by one key, edited as a call, and sent as bytes that are wrong on purpose', async () => {
    const page = await afterEcho();
    const frame = page.getByRole('region', { name: /^Frame \d+/ });
    /** Settles when the frame of the row is shown. */
    const choose = async (row: Locator) => {
      const seq = await row.getByRole('gridcell').first().innerText();
      await row.click();
      await page.getByRole('heading', { name: `Frame ${seq} `, level: 2 }).waitFor();
    };
    const requests = page.getByRole('row', { name: /to the server.*tools\/call\s+echo/ });
    await page.evaluate(goTo, '#/wire');
    // The message of the server was judged. The request of the page was not.
    await choose(page.getByRole('row', { name: /to the client.*tools\/call\s+echo/ }).first());
    await frame.getByText('schema ✓', { exact: true }).waitFor();
    await choose(requests.first());
    expect(await frame.getByText(/^schema/).count()).toBe(0);
    await page.keyboard.press('r');
    await call(page).getByText('first').first().waitFor();
    await page.evaluate(goTo, '#/wire');
    await expect.poll(() => requests.count()).toBe(2);
    await choose(requests.last());
    await frame.getByRole('button', { name: /^Edit and send/ }).click();
    const draft = frame.getByRole('textbox', { name: 'What is sent' });
    await draft.fill((await draft.inputValue()).replace('"first"', '"second"'));
    await frame.getByRole('button', { name: 'Send', exact: true }).click();
    await call(page).getByText('second').first().waitFor();
    await page.evaluate(goTo, '#/wire');
    await expect.poll(() => requests.count()).toBe(3);
    await choose(requests.last());
    await page.keyboard.press('e');
    await frame.getByRole('button', { name: 'As exact bytes' }).click();
    await draft.fill('{"jsonrpc":"2.0","id":"by-hand","method":"tools/call","params":{"name":"ec');
    await frame.getByRole('button', { name: 'Send', exact: true }).click();
    // The server says that it is not JSON.
    await choose(page.getByRole('row', { name: /error/ }).last());
    await frame.getByRole('button', { name: 'Exact bytes' }).click();
    await frame.getByText('-32700').waitFor();
  }, 90_000);

  it('is a call that a command line makes, too, with the same result', async () => {
    const page = await afterEcho();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.keyboard.press('Escape');
    await call(page).getByText('Copy as').click();
    await call(page).getByRole('button', { name: 'Command' }).click();
    await call(page).getByText('copied', { exact: true }).waitFor({ state: 'attached' });
    const line = await page.evaluate('navigator.clipboard.readText()');
    expect(line).toBe(`isthmus call echo --args '{"text":"first"}' -- ${process.execPath} ${ISTHMUS} demo`);
    const command = (line as string).replace(/^isthmus/, `${process.execPath} ${ISTHMUS}`);
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', command]);
    expect(stdout).toBe('first\n');
  }, 90_000);

  it('is timed: the table has each call, and a dot for it', async () => {
    const page = await afterEcho();
    for (const text of ['second', 'third']) {
      await page.getByLabel(/^text/).fill(text);
      await page.getByRole('button', { name: /^Call Ctrl|^Call$/ }).click();
      await call(page).getByText(text).first().waitFor();
    }
    await page.getByText(/^p50 .* \(3 calls\)$/).waitFor();
    await page.evaluate(goTo, '#/tools/test_error_handling');
    await page.getByRole('button', { name: /^Call Ctrl|^Call$/ }).click();
    await call(page).getByText('✕ tool error').waitFor();
    await page.evaluate(goTo, '#/timing');
    const cells = async (name: RegExp) =>
      (await page.getByRole('row', { name }).getByRole('cell').allInnerTexts()).slice(1, 3);
    await page.getByRole('row', { name: /^test_error_handling/ }).waitFor();
    expect(await cells(/^echo/)).toEqual(['3', '0']);
    expect(await cells(/^test_error_handling/)).toEqual(['1', '1']);
    await page.getByRole('img', { name: /^4 calls, the longest took/ }).waitFor();
  }, 90_000);
});

function call(page: Page) {
  return page.getByRole('region', { name: /^Call \d+/ });
}
