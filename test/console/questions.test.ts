/** Questions: each way to answer, one that is taken back, and answers that are given by themselves. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { expectSound } from './support/axe.js';
import { goTo } from './support/in-page.mjs';
import { startInspect } from './support/start-inspect.js';
import { openWatched } from './support/watched-page.js';

const SERVER = [process.execPath, 'test/programs/server-changes-its-mind.mjs'];

describeInBrowser('a question in the page', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  async function open(): Promise<Page> {
    const { page } = await openWatched(browser, await startInspect(SERVER));
    await page.getByRole('heading', { name: /^Why/ }).waitFor();
    return page;
  }

  it('is declined, cancelled and answered with an error as easily as it is accepted', async () => {
    const page = await open();
    const question = page.getByRole('alertdialog');
    await callTool(page, 'ask_again');
    await question.getByText('Which day?').waitFor();
    // The title of the tab says that somebody waits.
    await expect.poll(() => page.title()).toMatch(/^\(1\) /);
    await question.getByRole('button', { name: 'Decline' }).click();
    await resultText(page, '{"action":"decline"}');
    expect(await page.title()).not.toMatch(/^\(/);
    await callTool(page, 'ask_again');
    await question.getByRole('button', { name: 'Cancel' }).click();
    await resultText(page, '{"action":"cancel"}');
    await callTool(page, 'ask_again');
    await question.getByRole('button', { name: 'Error…' }).click();
    await question.getByRole('textbox', { name: 'code' }).fill('-32042');
    await question.getByRole('textbox', { name: 'message' }).fill('Not today');
    await expectSound(page, 'an error as an answer');
    await question.getByRole('button', { name: 'Send the error' }).click();
    await resultText(page, '{"error":{"code":-32042,"message":"Not today"}}');
    await callTool(page, 'ask_again');
    await question.getByRole('textbox', { name: /^day/ }).fill('Monday');
    await question.getByRole('button', { name: 'Accept' }).click();
    await resultText(page, '{"action":"accept","content":{"day":"Monday"}}');
  }, 90_000);

  it('goes away when the server takes it back, while a person types the answer', async () => {
    const page = await open();
    await callTool(page, 'ask');
    const question = page.getByRole('alertdialog');
    await question.getByRole('textbox', { name: /^day/ }).pressSequentially('Tues');
    await page.evaluate(goTo, '#/tools/take_back');
    await page.getByRole('button', { name: /^Call Ctrl|^Call$/ }).click();
    await resultText(page, 'taken back');
    await expect.poll(() => page.title()).not.toMatch(/^\(/);
    await page.evaluate(goTo, '#/questions');
    await page.getByText('No question waits.').waitFor();
    await page.evaluate(goTo, '#/tools/ask');
    const call = page.getByRole('region', { name: /^Call \d+/ });
    await call.getByText('● running').waitFor();
    expect(await question.count()).toBe(0);
  }, 90_000);

  it('is answered by the page from now on, until the person wants to be asked again', async () => {
    const page = await open();
    const question = page.getByRole('alertdialog');
    await callTool(page, 'ask_again');
    await question.getByRole('textbox', { name: /^day/ }).fill('Friday');
    await question.getByRole('checkbox', { name: 'answer the same by itself from now on' }).check();
    await question.getByRole('button', { name: 'Accept' }).click();
    await resultText(page, 'Friday');
    await callTool(page, 'ask_again');
    await resultText(page, 'Friday');
    await page.evaluate(goTo, '#/questions');
    const presets = page.getByRole('listitem').filter({ hasText: '"Friday' });
    await presets.waitFor();
    await expectSound(page, 'answers of the page');
    await presets.getByRole('button', { name: /^Ask me again/ }).click();
    await expect.poll(() => presets.count()).toBe(0);
    await callTool(page, 'ask_again');
    await question.getByText('Which day?').waitFor();
  }, 90_000);

  it('is one of a list that tells of its changes: what was added, removed and altered', async () => {
    const page = await open();
    await page.getByRole('link', { name: /^Tools/ }).click();
    await page.getByText('5 tools').waitFor();
    await page.evaluate(goTo, '#/tools/change');
    const [call] = await Promise.all([
      page.waitForRequest(/\/console\/api\/calls$/),
      page.getByRole('button', { name: /^Call Ctrl|^Call$/ }).click(),
    ]);
    expect(call.method()).toBe('POST');
    await page.evaluate(goTo, '#/');
    // The rail is marked until somebody looks.
    await page.getByRole('link', { name: /^Tools has changed/ }).click();
    await page.getByText(/added: added · removed: take_back · altered: forecast$/).waitFor();
    await expectSound(page, 'a list that has changed');
    await expect.poll(() => page.getByRole('link', { name: /has changed/ }).count()).toBe(0);
  }, 90_000);
});

/** Opens the tool and calls it. */
async function callTool(page: Page, name: string): Promise<void> {
  await page.evaluate(goTo, `#/tools/${name}`);
  await page.getByRole('heading', { name, level: 1 }).waitFor();
  await page.getByRole('button', { name: /^Call Ctrl|^Call$/ }).click();
}

function resultText(page: Page, text: string): Promise<void> {
  return page
    .getByRole('region', { name: /^Call \d+/ })
    .getByText(text)
    .first()
    .waitFor();
}
