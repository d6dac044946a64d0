/** The page of the console in a real browser: the first minute of a newcomer. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { ISTHMUS } from '../support/child.js';
import { startInspect } from './support/start-inspect.js';

const EVERYTHING = 'node_modules/@modelcontextprotocol/server-everything/dist/index.js';

describeInBrowser('the page of isthmus inspect', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  /** Opens the link. Fails for an error of a script, a violation of the policy, and a request to another host. */
  async function open(url: string): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== new URL(url).origin) problems.push(request.url());
    });
    onTestFinished(async () => {
      await context.close();
      expect(problems).toEqual([]);
    });
    await page.goto(url);
    return page;
  }

  it('shows which era a server speaks and why, and leads to the frames that prove it', async () => {
    const page = await open(await startInspect([process.execPath, EVERYTHING]));
    await page.getByRole('heading', { name: 'Everything Reference Server', level: 1 }).waitFor();
    await page.getByText('This server speaks 2025-11-25').waitFor();
    await page.getByRole('heading', { name: 'Why legacy?' }).waitFor();
    // The link was taken out of the address at once.
    expect(page.url()).not.toContain('enter=');
    await page.getByRole('link', { name: 'frame 2', exact: true }).click();
    await page.getByRole('region', { name: 'Frame 2' }).getByText('"server/discover"').waitFor();
  }, 60_000);

  it('calls a tool, takes its question, and shows both eras side by side', async () => {
    const page = await open(await startInspect([process.execPath, EVERYTHING]));
    // This server asks for the roots some time after its start. A call of that time would have that question, too.
    await page.getByRole('link', { name: 'Wire', exact: true }).click();
    await page
      .getByRole('row', { name: /roots\/list/ })
      .first()
      .waitFor();
    await page.getByRole('link', { name: /^Tools/ }).click();
    await page.getByRole('link', { name: /^trigger-elicitation-request/ }).click();
    await page.getByRole('button', { name: 'Call in both eras' }).click();
    const question = page.getByRole('alertdialog');
    await question.getByRole('textbox', { name: /^name\b/ }).fill('Ada');
    await question.getByRole('button', { name: 'Accept' }).click();
    const lens = page.getByRole('region', { name: 'Lens' });
    await lens.getByText('✓ ok').waitFor();
    const frames = lens.getByRole('list', { name: 'Frames of the call' }).getByRole('listitem');
    await expect.poll(() => frames.count()).toBe(8);
    const notes = lens.getByRole('list', { name: 'Why they differ' }).getByRole('listitem');
    await expect
      .poll(async () => (await notes.allTextContents()).map((text) => /^\d+/.exec(text)?.[0]))
      .toEqual(expect.arrayContaining(['1', '3', '4']));
    await page.getByRole('link', { name: 'Result' }).click();
    await page
      .getByRole('region', { name: /^Call \d+/ })
      .getByText('Ada')
      .first()
      .waitFor();
  }, 60_000);

  it('sends what is typed, digit for digit, and keeps absent, null and empty apart', async () => {
    const page = await open(await startInspect([process.execPath, ISTHMUS, 'demo']));
    await page.getByRole('link', { name: /^Tools/ }).click();
    await page.getByRole('link', { name: /^add/ }).click();
    await page.getByRole('textbox', { name: /^a\b/ }).fill('9007199254740993');
    await page.getByRole('combobox', { name: 'state of b' }).selectOption('null');
    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    const json = page.getByRole('textbox', { name: 'Arguments of add as JSON' });
    expect(await json.inputValue()).toBe('{\n  "a": 9007199254740993,\n  "b": null\n}');
    await json.fill('{"a": 1.0, "b": 1e400, "b": 2}');
    await page.getByRole('button', { name: /^Call Ctrl|^Call$/ }).click();
    await page.getByRole('region', { name: /^Call \d+/ }).waitFor();
    await page.getByRole('link', { name: 'Wire', exact: true }).click();
    await page
      .getByRole('row', { name: /tools\/call/ })
      .first()
      .click();
    await page.getByRole('button', { name: 'Exact bytes' }).click();
    await page.getByText('"arguments":{"a": 1.0, "b": 1e400, "b": 2}').waitFor();
  }, 60_000);

  it('refuses a link that was used, and says what to do', async () => {
    const url = await startInspect([process.execPath, ISTHMUS, 'demo']);
    const first = await open(url);
    await first.getByRole('heading', { level: 1 }).first().waitFor();
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const second = await context.newPage();
    await second.goto(url);
    await second.getByRole('heading', { name: 'This page needs a link' }).waitFor();
    await second.getByRole('alert').getByText('LINK_USED').waitFor();
  }, 60_000);
});
