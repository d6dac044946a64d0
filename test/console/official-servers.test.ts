/** What official servers ask and offer, of both eras, through the page. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { goTo } from './support/in-page.mjs';
import { startInspect } from './support/start-inspect.js';
import { openWatched } from './support/watched-page.js';

const EVERYTHING = ['node_modules/@modelcontextprotocol/server-everything/dist/index.js'];
const V2 = ['test/transparency/fixtures/official-modern.mjs'];

describeInBrowser('the page and official servers', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  async function open(program: readonly string[]): Promise<Page> {
    const link = await startInspect([process.execPath, ...program]);
    const { page } = await openWatched(browser, link);
    await page.getByRole('heading', { name: /^Why/ }).waitFor();
    return page;
  }

  it('answers a request for a message by hand (legacy)', async () => {
    const page = await open(EVERYTHING);
    await toTool(page, 'trigger-sampling-request');
    await page.getByRole('textbox', { name: /^prompt/ }).fill('the capital of France');
    await call(page);
    const question = page.getByRole('alertdialog');
    await question.getByText('the capital of France').waitFor();
    await question.getByRole('textbox', { name: 'Answer of the assistant' }).fill('It is Paris.');
    await question.getByRole('button', { name: 'Answer', exact: true }).click();
    await result(page).getByText('It is Paris.').first().waitFor();
  }, 60_000);

  it('sends an argument of a prompt as an empty text, and leaves out one that is absent (legacy)', async () => {
    const page = await open(EVERYTHING);
    await page.evaluate(goTo, '#/prompts/args-prompt');
    const city = page.getByRole('textbox', { name: /^city/ });
    const state = page.getByRole('combobox', { name: 'state of city' });
    await expect.poll(() => state.inputValue()).toBe('absent');
    const sent = async (): Promise<string> => {
      const [request] = await Promise.all([
        page.waitForRequest(/\/console\/api\/calls$/),
        page.getByRole('button', { name: /^Get Ctrl|^Get$/ }).click(),
      ]);
      return (request.postDataJSON() as { params: string }).params;
    };
    expect(await sent()).toBe('{"name":"args-prompt","arguments":{}}');
    await city.fill('Rome');
    await city.fill('');
    expect(await state.inputValue()).toBe('value');
    await page.getByText('an empty text is sent').waitFor();
    expect(await sent()).toBe('{"name":"args-prompt","arguments":{"city":""}}');
    await state.selectOption('absent');
    expect(await sent()).toBe('{"name":"args-prompt","arguments":{}}');
    await state.selectOption('value');
    expect(await sent()).toBe('{"name":"args-prompt","arguments":{"city":""}}');
  }, 60_000);

  it('shows an address in full, and opens nothing by itself (legacy)', async () => {
    const page = await open(EVERYTHING);
    await toTool(page, 'trigger-url-elicitation');
    await page.getByRole('textbox', { name: /^url/ }).fill('https://login.example.com/a?b=c');
    await call(page);
    const question = page.getByRole('alertdialog');
    await question.getByText('https://login.example.com/a?b=c').waitFor();
    expect(await question.locator('strong').innerText()).toBe('login.example.com');
    const link = question.getByRole('link', { name: 'Open in a new tab' });
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
    await question.getByRole('button', { name: 'Decline' }).click();
    await result(page)
      .getByText(/declined/i)
      .first()
      .waitFor();
  }, 60_000);

  it('tells of another root only when it was said twice (legacy)', async () => {
    const page = await open(EVERYTHING);
    await page.evaluate(goTo, '#/questions');
    await page.getByRole('textbox', { name: 'Another folder' }).fill('file:///srv/elsewhere');
    await page.getByRole('button', { name: 'Add the root' }).click();
    // What the page asks of the old connection meanwhile fails.
    await Promise.all([
      page.waitForResponse((response) => response.request().method() === 'PUT'),
      page.getByRole('button', { name: 'Yes, tell the server of it' }).click(),
    ]);
    await page.getByRole('listitem').getByText('file:///srv/elsewhere').waitFor();
    await page.getByRole('banner').getByText('connected', { exact: true }).waitFor();
    await toTool(page, 'get-roots-list');
    // The server answers with the roots that it knows, and may not have asked for the new ones yet.
    const roots = async () => {
      await call(page);
      return result(page).innerText();
    };
    await expect.poll(roots, { interval: 300 }).toContain('file:///srv/elsewhere');
  }, 60_000);

  it('listens on after the process was replaced, and says why a subscription has ended (modern, S17)', async () => {
    const page = await open(V2);
    await page.evaluate(goTo, '#/listens');
    const cards = page.locator('section').filter({ hasText: 'subscriptions/listen' });
    const news = page.getByText('the list of tools has changed');
    await page.getByRole('button', { name: 'Listen', exact: true }).click();
    await cards.getByText(/^open for/).waitFor();
    const toggle = async (on: boolean) => {
      await toTool(page, 'toggle');
      await page.getByRole('combobox', { name: /^on\b/ }).selectOption(String(on));
      await call(page);
      await result(page).getByText('✓ ok').waitFor();
      await page.evaluate(goTo, '#/listens');
    };
    await toggle(true);
    await expect.poll(() => news.count()).toBe(1);
    await page.evaluate(goTo, '#/');
    const pid = async () =>
      page
        .getByRole('main')
        .getByText(/^pid \d+$/)
        .innerText();
    const before = await pid();
    process.kill(Number(before.slice(4)), 'SIGKILL');
    // The subscription starts another process by itself, and goes on with it.
    await expect.poll(pid).not.toBe(before);
    await toggle(false);
    await expect.poll(() => news.count()).toBe(2);
    await cards.getByText(/^open for/).waitFor();
    await page.evaluate(goTo, '#/');
    await page.getByRole('button', { name: 'Connect again' }).click();
    await page.evaluate(goTo, '#/listens');
    await cards.getByText('ended: its connection was closed').waitFor();
    await page.getByRole('button', { name: 'Listen', exact: true }).click();
    await expect.poll(() => cards.count()).toBe(2);
    await page.getByRole('button', { name: 'End', exact: true }).click();
    await cards.getByText('ended: it was ended here').waitFor();
  }, 90_000);

  it('completes an argument of a prompt, also by the value of another one (legacy)', async () => {
    const page = await open(EVERYTHING);
    await page.getByRole('link', { name: /^Prompts/ }).click();
    await page.getByRole('link', { name: 'completable-prompt' }).click();
    await page.getByLabel(/^department/).fill('Eng');
    await expect.poll(() => suggestions(page, 'department')).toEqual(['Engineering']);
    await page.getByLabel(/^department/).fill('Engineering');
    await expect.poll(() => suggestions(page, 'name')).toEqual(['Alice', 'Bob', 'Charlie']);
    await page.getByLabel(/^name/).fill('Alice');
    await page.getByRole('button', { name: /^Get( Ctrl.*)?$/ }).click();
    await result(page)
      .getByText(/Please promote Alice/)
      .waitFor();
  }, 60_000);

  it('sends absent, null and empty as three different things (legacy)', async () => {
    const page = await open(EVERYTHING);
    await toTool(page, 'trigger-url-elicitation');
    const state = page.getByRole('combobox', { name: 'state of elicitationId' });
    const json = page.getByRole('textbox', { name: 'Arguments of trigger-url-elicitation as JSON' });
    const sent = async () => {
      await page.getByRole('button', { name: 'JSON', exact: true }).click();
      const text = await json.inputValue();
      await page.getByRole('button', { name: 'Form', exact: true }).click();
      return text;
    };
    expect(await sent()).toBe('{}');
    await page.getByRole('textbox', { name: /^elicitationId/ }).fill('x');
    await page.getByRole('textbox', { name: /^elicitationId/ }).fill('');
    expect(await sent()).toBe('{\n  "elicitationId": ""\n}');
    await state.selectOption('absent');
    expect(await sent()).toBe('{}');
    // What the schema does not allow can be written, and survives both views.
    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    await json.fill('{"elicitationId": null, "extra": [1.0, {"deep": 1e400}]}');
    await page.getByRole('button', { name: 'Form', exact: true }).click();
    expect(JSON.stringify(await sent())).toBe(
      JSON.stringify(
        '{\n  "elicitationId": null,\n  "extra": [\n    1.0,\n    {\n      "deep": 1e400\n    }\n  ]\n}',
      ),
    );
  }, 60_000);

  it('asks three questions of one round at once, and shows their rounds in both eras (modern)', async () => {
    const page = await open(V2);
    await page.getByText('This server speaks 2026-07-28').waitFor();
    await toTool(page, 'ask_all');
    await page.getByRole('button', { name: 'Call in both eras' }).click();
    const form = page.getByRole('alertdialog').filter({ hasText: 'Who?' });
    await form.getByRole('textbox', { name: /^name/ }).fill('Ada');
    await form.getByRole('button', { name: 'Accept' }).click();
    const model = page.getByRole('alertdialog').filter({ hasText: 'Say something' });
    await model.getByRole('textbox', { name: 'Answer of the assistant' }).fill('hello');
    await model.getByRole('button', { name: 'Answer', exact: true }).click();
    await page.getByRole('region', { name: 'Lens' }).getByText('✓ ok').waitFor();
    await page.getByRole('link', { name: 'Result' }).click();
    await result(page)
      .getByText(/Ada, hello file:\/\//)
      .first()
      .waitFor();
  }, 60_000);

  it('shows progress, and cancels so that the server hears it (modern)', async () => {
    const page = await open(V2);
    await toTool(page, 'slow');
    await call(page);
    await result(page).getByText('step 1').waitFor();
    await result(page)
      .getByRole('button', { name: /^Cancel/ })
      .click();
    await result(page)
      .getByText(/cancelled/)
      .first()
      .waitFor();
    await toTool(page, 'cancelled');
    await call(page);
    await result(page).getByText('1', { exact: true }).first().waitFor();
    await page.evaluate(goTo, '#/timing');
    await page.getByRole('row', { name: /^slow/ }).waitFor();
    const row = page.getByRole('row', { name: /^cancelled/ });
    expect(await row.getByRole('cell').nth(1).innerText()).toBe('1');
  }, 60_000);
});

async function toTool(page: Page, name: string): Promise<void> {
  await page.evaluate(goTo, `#/tools/${name}`);
  await page.getByRole('heading', { name, level: 1 }).waitFor();
}

function call(page: Page): Promise<void> {
  return page.getByRole('button', { name: /^Call Ctrl|^Call$/ }).click();
}

function result(page: Page) {
  return page.getByRole('region', { name: /^Call \d+/ });
}

function suggestions(page: Page, argument: string): Promise<string[]> {
  return page
    .getByLabel(new RegExp(`^${argument}`))
    .locator('xpath=..')
    .locator('datalist option')
    .evaluateAll((options) => options.map((option) => option.getAttribute('value') ?? ''));
}
