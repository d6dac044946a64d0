/** A trace file from the page: saved there, and opened without the server. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { ISTHMUS } from '../support/child.js';
import { expectSound } from './support/axe.js';
import { goTo } from './support/in-page.mjs';
import { startInspect } from './support/start-inspect.js';
import { openWatched } from './support/watched-page.js';

describeInBrowser('a trace file', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it('is saved from the page, and opens without the server, with the same frames', async () => {
    const { page } = await openWatched(browser, await startInspect([process.execPath, ISTHMUS, 'demo']));
    await page.getByRole('link', { name: /^Tools/ }).click();
    await page.getByRole('link', { name: /^echo/ }).click();
    await page.getByRole('textbox', { name: /^text/ }).fill('a word to find again');
    await page.getByRole('button', { name: /^Call Ctrl|^Call$/ }).click();
    await page.getByRole('region', { name: /^Call \d+/ }).waitFor();
    await page.getByRole('link', { name: 'Wire', exact: true }).click();
    await page.getByRole('button', { name: /^Save/ }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: /^Save/ }).waitFor();
    await expectSound(page, 'what is saved');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: /^Save/ }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/\.mcptrace$/);
    const file = join(mkdtempSync(join(tmpdir(), 'isthmus-page-')), 'saved.mcptrace');
    await download.saveAs(file);
    expect(readFileSync(file, 'utf8')).toContain('a word to find again');

    const opened = await openWatched(browser, await openFile(file));
    await opened.page.getByText('saved.mcptrace').first().waitFor();
    await opened.page.getByRole('link', { name: 'Wire', exact: true }).click();
    await opened.page
      .getByRole('row', { name: /tools\/call/ })
      .first()
      .click();
    await opened.page.getByRole('button', { name: 'Exact bytes' }).click();
    await opened.page.getByText('a word to find again').first().waitFor();
    await opened.page.getByRole('link', { name: /^Tools/ }).click();
    await opened.page.getByRole('link', { name: /^echo/ }).click();
    const call = opened.page.getByRole('button', { name: /^Call Ctrl|^Call$/ });
    expect(await call.isDisabled()).toBe(true);
    await opened.page.getByText('Nothing can be sent here').waitFor();
    await expectSound(opened.page, 'a tool of a file');
    await opened.page.evaluate(goTo, '#/');
    await expectSound(opened.page, 'the overview of a file');
  }, 90_000);

  it('that is damaged shows what is left of it, on every screen', async () => {
    const recorded = join(mkdtempSync(join(tmpdir(), 'isthmus-page-')), 'recorded.mcptrace');
    const { page } = await openWatched(
      browser,
      await startInspect([process.execPath, ISTHMUS, 'demo'], ['--record', recorded]),
    );
    await page.getByRole('link', { name: /^Tools/ }).click();
    await page.getByRole('link', { name: /^echo/ }).click();
    await page.getByRole('textbox', { name: /^text/ }).fill('hello');
    await page.getByRole('button', { name: /^Call Ctrl|^Call$/ }).click();
    await page
      .getByRole('region', { name: /^Call \d+/ })
      .getByText('✓ ok')
      .waitFor();
    // Frames are written soon after they came.
    await expect.poll(() => readFileSync(recorded, 'utf8')).toContain('"tool":"echo","state":"done"');
    const whole = readFileSync(recorded, 'utf8');
    const damaged = `${recorded}.damaged.mcptrace`;
    const [head, ...lines] = whole.trimEnd().split('\n');
    writeFileSync(
      damaged,
      [head, '{"seq":', ...lines, '\u0000\u0001', '[]', lines.at(-1)!.slice(0, 20)].join('\n'),
    );
    const opened = await openWatched(browser, await openFile(damaged));
    await opened.page.getByText('recorded.mcptrace.damaged.mcptrace').first().waitFor();
    for (const screen of [
      ...['tools', 'tools/echo', 'resources', 'prompts', 'calls', 'questions', 'listens', 'logs', 'wire'],
      ...['frame/3', 'check', 'timing'],
    ]) {
      await opened.page.evaluate(goTo, `#/${screen}`);
      await opened.page.getByRole('heading', { level: 1 }).first().waitFor();
    }
    await opened.page.getByRole('row', { name: /^echo/ }).waitFor();
  }, 90_000);
});

/** Runs `isthmus inspect FILE` until the test ends. */
async function openFile(file: string): Promise<string> {
  const args = [ISTHMUS, 'inspect', '--no-open', '--json', file];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  for await (const line of createInterface(child.stdout)) return (JSON.parse(line) as { url: string }).url;
  throw new Error('isthmus inspect has ended before it printed its link');
}
