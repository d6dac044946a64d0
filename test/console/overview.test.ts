/** The first screen: what it says of servers that answer in their own way, or not at all. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { ISTHMUS } from '../support/child.js';
import { expectSound } from './support/axe.js';
import { goTo } from './support/in-page.mjs';
import { startInspect } from './support/start-inspect.js';
import { openWatched } from './support/watched-page.js';

describeInBrowser('the overview', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  async function open(program: readonly string[], options: readonly string[] = []): Promise<Page> {
    const link = await startInspect([process.execPath, ...program], options);
    // Without a connection there is nothing to read.
    return (await openWatched(browser, link, { expected: /status of 409/ })).page;
  }

  it('says that a server ended when it was asked for its era, and that it was started again', async () => {
    const page = await open(['test/programs/server-exits-on-discover.mjs']);
    await page.getByText('This server speaks 2025-11-25').waitFor();
    await page.getByRole('heading', { name: 'Why legacy?' }).waitFor();
    const steps = page.getByRole('listitem').filter({ hasText: 'server/discover' });
    expect(await steps.first().innerText()).toMatch(/ended on server\/discover/);
    // Its last words, and the frames of both processes.
    await steps
      .first()
      .getByRole('link', { name: /^frame/ })
      .first()
      .click();
    await page.getByRole('region', { name: /^Frame \d+/ }).waitFor();
    for (const text of ['fatal: unknown method server/discover', 'initialize'])
      await page
        .getByRole('row', { name: new RegExp(text) })
        .first()
        .waitFor();
    expect(await page.getByRole('row', { name: /process\s+start/ }).count()).toBe(2);
  }, 60_000);

  it('says that a server did not answer when it was asked for its era', async () => {
    const page = await open(['test/programs/server-silent-on-discover.mjs']);
    await page.getByText('This server speaks 2025-11-25').waitFor();
    await page.getByRole('heading', { name: 'Why legacy?' }).waitFor();
    const [first] = await page.getByRole('listitem').filter({ hasText: 'server/discover' }).allInnerTexts();
    expect(first).toMatch(/server\/discover was not answered/);
  }, 60_000);

  it('says why a server does not start, with its last lines and what to do, and starts it again', async () => {
    const page = await open(['test/programs/child-that-dies-at-start.mjs']);
    const reason = page.getByRole('region', { name: 'Why it is not connected' });
    await reason
      .getByRole('alert')
      .getByText(/stopped with code 1/)
      .waitFor();
    await reason.getByText('missing API key').first().waitFor();
    await page.getByRole('banner').getByText('not connected').waitFor();
    await expectSound(page, 'a server that does not start');
    await reason.getByRole('button', { name: 'Start again' }).click();
    await reason.getByRole('button', { name: 'Start again' }).waitFor();
    // What was sent, and each start.
    await page.evaluate(goTo, '#/wire');
    await expect.poll(() => page.getByRole('row', { name: /process\s+start/ }).count()).toBeGreaterThan(1);
    for (const screen of ['tools', 'resources', 'prompts']) {
      await page.evaluate(goTo, `#/${screen}`);
      await page.getByRole('link', { name: 'See the overview' }).waitFor();
      await expectSound(page, `${screen} without a connection`);
    }
  }, 60_000);

  it('speaks as a person says: an era, a revision, or what it finds out', async () => {
    const page = await open([ISTHMUS, 'demo'], ['--era', 'legacy']);
    await page.getByText(/^This server speaks 2025-11-25/).waitFor();
    const speak = page.getByLabel('Speak as');
    expect(await speak.inputValue()).toBe('legacy');
    await speak.selectOption('2025-06-18');
    await page.getByText(/^This server speaks 2025-06-18/).waitFor();
    await speak.selectOption('modern');
    await page.getByText(/^This server speaks 2026-07-28/).waitFor();
    await page.getByRole('heading', { name: 'Why modern?' }).waitFor();
    await speak.selectOption('auto');
    await page.getByText(/^This server speaks 2026-07-28/).waitFor();
    await page.getByRole('button', { name: 'Hang up' }).click();
    await page.getByText('The connection has ended.').waitFor();
    await expectSound(page, 'a connection that has ended');
    await page.getByRole('button', { name: 'Connect again' }).click();
    await page.getByRole('banner').getByText('connected', { exact: true }).waitFor();
  }, 60_000);
});
