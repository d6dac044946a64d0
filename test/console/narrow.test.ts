/** Every screen at 320 px, at 200 %, on a phone and on a desk: nothing is cut off, and forced colours are no obstacle. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { axeViolations, goTo, tooWideParts } from './support/in-page.mjs';
import { startInspect } from './support/start-inspect.js';
import { startServe } from './support/start-serve.js';
import { openWatched } from './support/watched-page.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const EVERYTHING = 'node_modules/@modelcontextprotocol/server-everything/dist/index.js';
const INSPECT = [
  ...['', 'tools', 'tools/get-annotated-message', 'resources', 'resources/architecture.md', 'prompts'],
  ...['prompts/completable-prompt', 'calls', 'questions', 'listens', 'logs', 'wire', 'frame/4', 'check'],
  'timing',
];
const GATEWAY = [
  ...['', 'calls', 'questions', 'callers', 'logs', 'wire', 'settings', 'server/demo', 'server/missing'],
  ...['tools/add', 'resources', 'prompts', 'listens', 'calls', 'timing', 'logs'].map(
    (screen) => `server/demo/${screen}`,
  ),
  'server/missing/tools',
];
/** WCAG 2.2: 1.4.10 (reflow, 320 px) and 1.4.4 (a window of 1280 px at 200 %). */
const WIDTHS = [320, 360, 640, 1280];

describeInBrowser('a screen of any width', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it('shows all of one server', async () => {
    const { page } = await openWatched(browser, await startInspect([process.execPath, EVERYTHING]));
    await page.getByRole('heading', { name: 'Why legacy?' }).waitFor();
    await page.getByRole('link', { name: /^\d+ tools$/ }).waitFor();
    // With calls of long names, a question, and the lens.
    await page.evaluate(goTo, '#/resources/architecture.md');
    await page.getByRole('button', { name: /^Read Ctrl|^Read$/ }).click();
    await page
      .getByRole('region', { name: /^Call \d+/ })
      .getByText('✓ ok')
      .waitFor();
    await page.evaluate(goTo, '#/tools/trigger-elicitation-request');
    await page.getByRole('button', { name: 'Call in both eras' }).click();
    const question = page.getByRole('alertdialog');
    await question.getByRole('textbox', { name: /^name\b/ }).fill('Ada');
    await fits(page, ['questions']);
    await question.getByRole('button', { name: 'Accept' }).click();
    await page.evaluate(goTo, '#/calls');
    await page
      .getByRole('row', { name: /trigger-elicitation-request.*ok/ })
      .getByRole('link')
      .first()
      .click();
    await page.getByRole('region', { name: /^Call \d+/ }).waitFor();
    const [, call] = /#\/call\/(\d+)/.exec(page.url())!;
    await page.evaluate(goTo, `#/call/${call}/lens`);
    await page.getByText(/^a person answered/).waitFor();
    await fits(page, [...INSPECT, `call/${call}`, `call/${call}/lens`]);
    await page.emulateMedia({ forcedColors: 'active' });
    for (const screen of ['', 'tools/get-sum', 'wire', `call/${call}/lens`]) {
      await page.evaluate(goTo, `#/${screen}`);
      await page.evaluate(AXE);
      expect([screen, await page.evaluate(axeViolations)]).toEqual([screen, []]);
    }
  }, 120_000);

  it('shows all of a gateway, with a server that does not start', async () => {
    const file = new URL('./fixtures/one-of-two-fails.json', import.meta.url).pathname;
    const { page } = await openWatched(browser, (await startServe(['--config', file])).link, {
      expected: /status of (409|504)/,
    });
    await page.getByRole('row', { name: /demo.*ready/ }).waitFor();
    await page.getByRole('row', { name: /missing.*failed/ }).waitFor();
    await fits(page, GATEWAY);
    await page.getByRole('link', { name: 'Servers' }).click();
    await page.getByRole('button', { name: 'Record', exact: true }).click();
    await page.getByText(/^● console-1 records all servers$/).waitFor();
    for (const screen of ['', 'server/missing', 'server/missing/tools', 'settings', 'calls']) {
      await page.evaluate(goTo, `#/${screen}`);
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      await page.evaluate(AXE);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        expect([screen, await page.evaluate(axeViolations)]).toEqual([screen, []]);
      }
    }
  }, 120_000);
});

async function fits(page: Page, screens: readonly string[]): Promise<void> {
  for (const screen of screens) {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.evaluate(goTo, `#/${screen}`);
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      expect([screen, width, await page.evaluate(tooWideParts)]).toEqual([screen, width, []]);
    }
  }
}
