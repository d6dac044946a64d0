/** A server whose every text attacks the page: nothing runs, nothing is fetched, nothing breaks. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { hostilePayloads } from '../programs/hostile-payloads.mjs';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { connectV1 } from '../support/official-v1.js';
import { expectSound } from './support/axe.js';
import { addresses, believe, foreignParts, goTo } from './support/in-page.mjs';
import { startInspect } from './support/start-inspect.js';
import { startServe } from './support/start-serve.js';
import { openWatched } from './support/watched-page.js';

const PROGRAM = new URL('../programs/server-of-hostile-texts.mjs', import.meta.url).pathname;

/** These do not stand in a heading as they are. */
const SHOWN: Readonly<Record<number, string>> = {
  58: '[U+202E]gnp.exe[U+202C] [U+2066]hidden[U+2069] [U+200B]zero[U+00AD] [U+D800]lone',
  59: '[U+0007]bell [U+001B][31mred[U+001B]]0;title[U+0007] [U+000D]\nSet-Cookie: a=b',
};

const SCREENS = ['Resources', 'Prompts', 'Questions', 'Listens', 'Logs', 'Calls', 'Timing', 'Check', 'Wire'];

describeInBrowser('the page before a hostile server', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  /** A web server that must not be asked. */
  async function listen(): Promise<{ readonly asked: string[]; readonly address: string }> {
    const asked: string[] = [];
    const listener = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.end();
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void listener.close());
    return { asked, address: `http://127.0.0.1:${(listener.address() as AddressInfo).port}` };
  }

  it('runs nothing and fetches nothing on any screen, and stays whole', async () => {
    const { asked, address } = await listen();
    const payloads = hostilePayloads(address);
    expect(payloads).toHaveLength(60);
    const url = await startInspect([process.execPath, PROGRAM, address]);
    // The policy refuses what a preview of HTML wants: this is how it should be.
    const { page } = await openWatched(browser, url, {
      expected: /^console .*(Content Security Policy|sandboxed)/,
    });
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    await isWhole(page);
    for (const [screen, before] of [
      ['tools', 3],
      ['prompts', 0],
      ['resources', 1],
    ] as const) {
      await page.evaluate(goTo, `#/${screen}`);
      const list = page.locator('nav.split-list ul.list').first().getByRole('link');
      await expect.poll(() => list.count()).toBe(before + 60);
      const places = (await list.evaluateAll(addresses)).slice(before).map((fragment, at) => ({
        fragment: fragment ?? '',
        heading: SHOWN[at + 1] ?? cut(payloads[at]!),
      }));
      await isWhole(page, places);
      // The names of arguments are sent to the server, which completes them, however long they are.
      if (screen === 'prompts')
        await page
          .getByText(/^60 suggestions/)
          .first()
          .waitFor();
    }

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
    await expect.poll(() => questions.count()).toBe(63);
    expect(await questions.getByRole('link', { name: 'Open in a new tab' }).evaluateAll(addresses)).toEqual([
      `${address.replace('//', '//user:secret@')}/51`,
      `${address}/asked`,
    ]);
    await isWhole(page);
    await page.getByRole('link', { name: /^fail/ }).click();
    await page.getByRole('button', { name: /^Call Ctrl|^Call$/ }).click();
    await page
      .getByRole('region', { name: /^Call \d+/ })
      .getByText('-32601')
      .first()
      .waitFor();
    await isWhole(page);
    await isWhole(
      page,
      SCREENS.map((heading) => ({ fragment: `#/${heading.toLowerCase()}`, heading })),
    );
    for (const word of [
      'tools/call',
      'initialize',
      'notifications/message',
      'elicitation',
      'not a message',
    ]) {
      // Lines that are not messages are found by their kind.
      const filter = page.getByRole('searchbox', { name: 'Filter by method, name or id' });
      await filter.fill(word === 'not a message' ? 'noise' : word);
      await page
        .getByRole('row', { name: new RegExp(word) })
        .first()
        .click();
      await page.getByRole('button', { name: 'Exact bytes' }).click();
      // The level is a text, too.
      if (word === 'notifications/message') {
        await page.getByText('params.level: expected a log level').first().waitFor();
        await expectSound(page, 'a message that does not fit its schema');
      }
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
    await page.getByRole('button', { name: 'Preview without scripts' }).click();
    expect(await page.locator('iframe').getAttribute('sandbox')).toBe('');
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

  it('is as whole where a gateway has that server, and clients with such names', async () => {
    const { asked, address } = await listen();
    const { link, url } = await startServe(['--name', 'evil', '--', process.execPath, PROGRAM, address]);
    const { page } = await openWatched(browser, link, { expected: /status of 4/ });
    await page.getByRole('row', { name: /evil.*ready/ }).waitFor();
    for (const name of hostilePayloads(address)) {
      const { client } = await connectV1({ url }, { name });
      onTestFinished(() => client.close());
      await expect(client.callTool({ name: 'fail' })).rejects.toThrow('-32601');
    }
    await isWhole(
      page,
      ['Calls', 'Callers', 'Logs', 'Settings'].map((heading) => ({
        ...{ heading, fragment: `#/${heading.toLowerCase()}` },
      })),
    );
    await isWhole(page, [
      { fragment: '#/server/evil', heading: 'evil' },
      { fragment: '#/', heading: 'Servers' },
    ]);
    await page.evaluate(goTo, '#/callers');
    await expect.poll(() => page.getByRole('table').nth(1).getByRole('row').count()).toBe(61);
    await isWhole(page);
    expect(asked).toEqual([]);
  }, 120_000);

  it('would not be, if it believed the texts', async () => {
    const { asked, address } = await listen();
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const ran = new Set<string>();
    page.on('console', (message) => void ran.add(message.text()));
    await page.addInitScript('globalThis.alert = (number) => console.log(String(number))');
    await page.goto(address);
    await page.evaluate(believe, hostilePayloads(address));
    const numbers = ['1', '4', '8', '14', '15', '30', '35', '38', '39', '40', '41'];
    await expect.poll(() => [...ran]).toEqual(expect.arrayContaining(numbers));
    const paths = ['/2', '/5', '/12', '/16', '/17', '/21', '/52', '/53'];
    await expect.poll(() => asked).toEqual(expect.arrayContaining(paths));
  }, 60_000);
});

/** No element of the server is in the page, its direction marks are words, and nothing is wider than the window. */
async function isWhole(page: Page, places: Parameters<typeof foreignParts>[0] = []): Promise<void> {
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    expect(await page.evaluate(foreignParts, places)).toEqual([]);
  }
}

function cut(text: string): string {
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
