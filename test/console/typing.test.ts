/** What a person types leaves as it is typed, key by key: the faults of the Inspector #1853, #1856, #1885, #1928 and #332. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { copyText, goTo, hasFocus } from './support/in-page.mjs';
import { startInspect } from './support/start-inspect.js';
import { openWatched } from './support/watched-page.js';

const SERVER = [process.execPath, 'test/programs/server-changes-its-mind.mjs'];

describeInBrowser('a form while a person types', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  async function open(): Promise<Page> {
    const { page } = await openWatched(browser, await startInspect(SERVER));
    await page.evaluate(goTo, '#/tools/forecast');
    await page.getByRole('heading', { name: 'forecast', level: 1 }).waitFor();
    return page;
  }

  it('keeps numbers as their digits, also those that are not finished', async () => {
    const page = await open();
    const days = page.getByRole('textbox', { name: /^days/ });
    await days.focus();
    for (const [key, text] of [
      ['-', '-'],
      ['0', '-0'],
      ['Backspace', '-'],
      ['Backspace', ''],
      ['1', '1'],
      ['.', '1.'],
      ['0', '1.0'],
      ['0', '1.00'],
    ] as const) {
      await page.keyboard.press(key);
      expect(await days.inputValue()).toBe(text);
    }
    await page.getByRole('textbox', { name: /^ratio/ }).pressSequentially('12345678901234567890.10e+2');
    expect(await sent(page)).toBe(
      '{"name":"forecast","arguments":{"days":1.00,"ratio":12345678901234567890.10e+2}}',
    );
  });

  it('keeps a text that looks like something else, and the focus while it grows', async () => {
    const page = await open();
    const city = page.getByRole('textbox', { name: /^city/ });
    await city.focus();
    const text = `007 "quoted" \\n null {"a":1} ${'long '.repeat(30)}end`;
    await page.keyboard.type(text);
    expect(await city.inputValue()).toBe(text);
    expect(await sent(page)).toBe(
      `{"name":"forecast","arguments":{"city":"007 \\"quoted\\" \\\\n null {\\"a\\":1} ${'long '.repeat(30)}end"}}`,
    );
    // It suggests now what was sent.
    await page.getByLabel(/^city/).fill('1');
    expect(await sent(page)).toBe('{"name":"forecast","arguments":{"city":"1"}}');
  });

  it('keeps the lines of a text that is pasted', async () => {
    const page = await open();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const city = page.getByRole('textbox', { name: /^city/ });
    await city.fill('ab');
    await page.evaluate(copyText, 'one\n two\nthree');
    await city.press('ArrowLeft');
    await page.keyboard.press('Control+v');
    await expect.poll(() => city.inputValue()).toBe('aone\n two\nthreeb');
    // The next key goes where the person was.
    await expect.poll(() => city.evaluate(hasFocus)).toBe(true);
    expect(await sent(page)).toBe('{"name":"forecast","arguments":{"city":"aone\\n two\\nthreeb"}}');
  });

  it('keeps what one view has typed when the other is looked at, and when another variant is tried', async () => {
    const page = await open();
    await page.getByRole('button', { name: 'Add where' }).click();
    const variant = page.getByRole('combobox', { name: 'variant of where' });
    await variant.selectOption({ label: 'by point' });
    await page.getByRole('textbox', { name: /^lat/ }).pressSequentially('8.980');
    await page.getByRole('textbox', { name: /^city/ }).pressSequentially('Panamá');
    await page.getByRole('combobox', { name: 'state of note' }).selectOption('null');
    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    const json = page.getByRole('textbox', { name: 'Arguments of forecast as JSON' });
    expect(await json.inputValue()).toBe(
      '{\n  "where": {\n    "by": "point",\n    "lat": 8.980\n  },\n  "city": "Panamá",\n  "note": null\n}',
    );
    await page.getByRole('button', { name: 'Form', exact: true }).click();
    expect(await page.getByRole('textbox', { name: /^lat/ }).inputValue()).toBe('8.980');
    expect(await variant.inputValue()).toBe('1');
    expect(await sent(page)).toBe(
      '{"name":"forecast","arguments":{"where":{"by":"point","lat":8.980},"city":"Panamá","note":null}}',
    );
    // What was sent before is suggested, and the draft outlives a look at another screen.
    await page.evaluate(goTo, '#/wire');
    await page.getByRole('grid').waitFor();
    await page.evaluate(goTo, '#/tools/forecast');
    const city = page.getByRole('combobox', { name: /^city/ });
    expect(await city.inputValue()).toBe('Panamá');
    expect(
      await city
        .locator('xpath=..')
        .locator('datalist option')
        .evaluateAll((options) => options.map((option) => option.getAttribute('value'))),
    ).toEqual(['Panamá']);
  });
});

/** Calls the tool, and gives the params that left the page. */
async function sent(page: Page): Promise<string> {
  const [request] = await Promise.all([
    page.waitForRequest(/\/console\/api\/calls$/),
    page.getByRole('button', { name: /^Call Ctrl|^Call$/ }).click(),
  ]);
  return (request.postDataJSON() as { params: string }).params;
}
