/** A server whose every text attacks the page: nothing runs, nothing is fetched, nothing breaks. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { addresses, lookAround } from './support/in-page.mjs';
import { startInspect } from './support/start-inspect.js';
import { openWatched } from './support/watched-page.js';

const PROGRAM = new URL('../programs/server-of-hostile-texts.mjs', import.meta.url).pathname;

describeInBrowser('the page before a hostile server', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it('runs nothing and fetches nothing on any screen, and stays whole', async () => {
    const asked: string[] = [];
    const listener = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.end();
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void listener.close());
    const address = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
    const url = await startInspect([process.execPath, PROGRAM, address]);
    // The policy refuses what a preview of HTML wants: this is how it should be.
    const { page } = await openWatched(browser, url, {
      expected: /^console .*(Content Security Policy|sandboxed)/,
    });
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    await isWhole(page);

    await page.getByRole('link', { name: /^Tools/ }).click();
    await page.getByRole('link', { name: /^show/ }).click();
    await page.getByText('Definition').first().click();
    await page.getByRole('button', { name: /^Call Ctrl|^Call$/ }).click();
    await page
      .getByRole('region', { name: /^Call \d+/ })
      .getByText('1.0 MB')
      .or(page.getByText('<<<<<<<<'))
      .first()
      .waitFor();
    await isWhole(page);
    // Every kind of question, each with every text. What is no address of the web cannot be opened.
    await page.getByRole('link', { name: /^ask/ }).click();
    await page.getByRole('button', { name: /^Call Ctrl|^Call$/ }).click();
    const questions = page.getByRole('alertdialog');
    await expect.poll(() => questions.count()).toBe(4);
    expect(await questions.getByRole('link', { name: 'Open in a new tab' }).evaluateAll(addresses)).toEqual([
      `${address}/asked`,
    ]);
    await isWhole(page);
    for (const screen of [
      'Resources',
      'Prompts',
      'Questions',
      'Listens',
      'Logs',
      'Calls',
      'Timing',
      'Check',
      'Wire',
    ]) {
      await page
        .getByRole('link', { name: new RegExp(`^${screen}`) })
        .first()
        .click();
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      await isWhole(page);
    }
    for (const row of ['tools/call', 'initialize']) {
      await page
        .getByRole('row', { name: new RegExp(row) })
        .last()
        .click();
      await page.getByRole('button', { name: 'Exact bytes' }).click();
      await isWhole(page);
    }
    await page
      .getByRole('link', { name: /^Resources/ })
      .first()
      .click();
    await page
      .getByRole('link', { name: /evil:\/\/page/ })
      .first()
      .click();
    await page
      .getByRole('button', { name: /^Read( Ctrl.*)?$/ })
      .first()
      .click();
    await page.getByText('<h1>hi</h1>').first().waitFor();
    await isWhole(page);
    const preview = page.getByRole('button', { name: /preview/i });
    if ((await preview.count()) > 0) {
      await preview.first().click();
      await page.locator('iframe').first().waitFor();
      expect(await page.locator('iframe').first().getAttribute('sandbox')).toBe('');
    }
    await isWhole(page);
    await page
      .getByRole('link', { name: /^Prompts/ })
      .first()
      .click();
    await page.getByRole('navigation', { name: 'Prompts' }).getByRole('link').first().click();
    await page.getByRole('button', { name: /^Get Ctrl|^Get$/ }).click();
    await page
      .getByRole('region', { name: /^Call \d+/ })
      .getByText('✓ ok')
      .waitFor();
    await isWhole(page);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /^Name of a screen/ }).fill('<');
    await page.getByRole('listbox', { name: 'Found' }).getByRole('option').first().waitFor();
    await isWhole(page);
    expect(asked).toEqual([]);
  }, 120_000);
});

/** No element of the server is in the page, its direction marks are words, and nothing is wider than the window. */
async function isWhole(page: Page): Promise<void> {
  const seen = await page.evaluate(lookAround);
  expect(seen).toEqual({ scripts: 1, foreign: 0, remote: 0, bidi: false, polluted: false, tooWide: false });
}
