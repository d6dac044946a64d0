/** The first minutes of a newcomer: `npm start`, the link that it prints, a call, its question, both eras. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { openWatched } from './support/watched-page.js';

describeInBrowser('a newcomer', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it('runs npm start, opens the link, calls a tool, answers its question, and sees both eras', async () => {
    const { page } = await openWatched(browser, await npmStart());
    await page.getByRole('link', { name: 'demo' }).click();
    await page
      .getByRole('navigation', { name: 'Screens of demo' })
      .getByRole('link', { name: 'Tools' })
      .click();
    await page.getByRole('link', { name: /^confirm_delete/ }).click();
    await page.getByRole('textbox', { name: /^filename/ }).fill('notes.txt');
    await page.getByRole('button', { name: 'Call in both eras' }).click();
    const question = page.getByRole('alertdialog');
    await question.getByText('notes.txt').first().waitFor();
    await question.getByRole('combobox', { name: /^confirm/ }).selectOption({ label: 'true' });
    await question.getByRole('button', { name: 'Accept' }).click();
    const lens = page.getByRole('region', { name: 'Lens' });
    await lens.getByText('✓ ok').waitFor();
    const frames = lens.getByRole('list', { name: 'Frames of the call' }).getByRole('listitem');
    // Both sides: the client of the page, and the server behind the gateway.
    await lens.getByRole('heading', { name: /^asked in legacy .*carried to modern 2026-07-28$/ }).waitFor();
    await expect.poll(() => frames.filter({ hasText: 'client side' }).count()).toBe(4);
    await expect.poll(() => frames.filter({ hasText: 'server side' }).count()).toBeGreaterThanOrEqual(4);
    const notes = lens.getByRole('list', { name: 'Why they differ' }).getByRole('listitem');
    await expect
      .poll(async () => (await notes.allTextContents()).map((text) => /^\d+/.exec(text)?.[0]))
      .toEqual(expect.arrayContaining(['1', '21']));
    await page.getByRole('link', { name: 'Result' }).click();
    await page
      .getByRole('region', { name: /^Call \d+/ })
      .getByText('notes.txt')
      .first()
      .waitFor();
  }, 120_000);
});

/** The script of `npm start -- --port 0`, at a free port. Settles with the link to the console. */
async function npmStart(): Promise<string> {
  const args = ['scripts/start.js', '--port', '0'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  const said: string[] = [];
  for await (const line of createInterface(child.stderr)) {
    said.push(line);
    const [link] = /http:\S+#enter=[\w-]+/.exec(line) ?? [];
    if (link === undefined) continue;
    child.stderr.resume();
    return link;
  }
  throw new Error(`npm start has ended before it printed a link:\n${said.join('\n')}`);
}
