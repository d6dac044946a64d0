/** Servers and gateways that end while somebody looks. */
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { ISTHMUS } from '../support/child.js';
import { expectSound } from './support/axe.js';
import { runInspect, startInspect } from './support/start-inspect.js';
import { startServe } from './support/start-serve.js';
import { openWatched } from './support/watched-page.js';

const DEMO = [process.execPath, ISTHMUS, 'demo'];
const BROKEN =
  /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|status of 401/;

describeInBrowser('a page whose server ends', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it('says what became of the call that ran, and the next call starts the server again', async () => {
    const { page } = await openWatched(browser, await startInspect(DEMO));
    const pid = Number(
      (
        await page
          .getByText(/^pid \d+$/)
          .first()
          .innerText()
      ).slice(4),
    );
    await page.getByRole('link', { name: /^Tools/ }).click();
    await page.getByRole('link', { name: /^sleep/ }).click();
    await page.getByRole('textbox', { name: /^ms/ }).fill('60000');
    await page.getByRole('button', { name: /^Call Ctrl|^Call$/ }).click();
    const call = page.getByRole('region', { name: /^Call \d+/ });
    await call.getByRole('progressbar').waitFor();
    process.kill(pid, 'SIGKILL');
    await call.getByText('CHILD_EXITED').first().waitFor();
    await call.getByText('sent: maybe').waitFor();
    await page.getByRole('banner').getByText('not connected').waitFor();
    await expectSound(page, 'a call whose process has ended');
    await page.getByRole('link', { name: /^echo/ }).click();
    await page.getByRole('textbox', { name: /^text/ }).fill('again');
    await page.getByRole('button', { name: /^Call Ctrl|^Call$/ }).click();
    await page
      .getByRole('region', { name: /^Call \d+/ })
      .getByText('✓ ok')
      .waitFor();
    await page.getByRole('banner').getByText('connected', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    const next = page.getByText(/^pid \d+$/).first();
    await expect.poll(async () => (await next.innerText()).slice(4)).not.toBe(String(pid));
    await page.getByRole('link', { name: 'Logs' }).click();
    await page
      .getByText(/SIGKILL/)
      .first()
      .waitFor();
  }, 90_000);

  it.each([
    ['SIGTERM', 'The process has ended.'],
    ['SIGKILL', 'The line to the process broke.'],
  ] as const)(
    'says what to do when isthmus inspect is gone, and keeps what was seen: %s',
    async (signal, words) => {
      const { url, end } = await runInspect(DEMO);
      const { page } = await openWatched(browser, url, { expected: BROKEN });
      await page.getByRole('link', { name: /^Tools/ }).click();
      await page.getByRole('link', { name: /^echo/ }).click();
      await page.getByRole('textbox', { name: /^text/ }).fill('a last word');
      await page.getByRole('button', { name: /^Call Ctrl|^Call$/ }).click();
      const call = page.getByRole('region', { name: /^Call \d+/ });
      await call.getByText('✓ ok').waitFor();
      await end(signal);
      const state = page.getByRole('alert').filter({ hasText: words });
      await state.getByText(/What you see is .* old/).waitFor();
      await state.getByText(/start it again and open the link that it prints/).waitFor();
      await state.getByText(/The page asks again in \d+ s/).waitFor();
      await expectSound(page, 'a page whose process is gone');
      await call.getByText('a last word').first().waitFor();
      // A call that cannot be made says so beside its button.
      await page.getByRole('button', { name: /^Call Ctrl|^Call$/ }).click();
      await page.getByRole('alert').filter({ hasNotText: words }).first().waitFor();
      await state.getByRole('button', { name: 'Ask now' }).click();
      await state.getByText(/What you see is .* old/).waitFor();
    },
    90_000,
  );

  it('survives a gateway that is killed and started again, in two tabs', async () => {
    const at = `127.0.0.1:${await freePort()}`;
    const args = ['--name', 'demo', '--', ...DEMO];
    const before = await startServe(args, { console: at });
    const { page: one } = await openWatched(browser, before.link, {
      expected: new RegExp(`window|${BROKEN.source}`),
    });
    await one.getByRole('row', { name: /demo/ }).waitFor();
    // The second tab has no link: it gets the key of the first.
    const two = await one.context().newPage();
    await two.goto(`${new URL('./', before.link).href}#/calls`);
    await two.getByRole('heading', { name: 'Calls' }).waitFor();
    await before.kill();
    for (const page of [one, two]) await page.getByText('The line to the process broke').waitFor();
    // What was known stays in sight.
    expect(await one.getByRole('row', { name: /demo/ }).count()).toBe(1);
    const after = await startServe(args, { console: at });
    for (const page of [one, two]) await doorOf(page);
    await one.goto(after.link);
    await one.getByRole('row', { name: /demo/ }).waitFor();
    await two.getByRole('heading', { name: 'Calls' }).waitFor();
    await two.getByRole('link', { name: 'Servers' }).click();
    await two.getByRole('row', { name: /demo/ }).waitFor();
  }, 120_000);
});

/** The key of before is unknown to the new process. The page asks by itself; a click asks at once. */
async function doorOf(page: Page): Promise<void> {
  const door = page.getByRole('heading', { name: 'This page needs a link' });
  const askNow = page.getByRole('button', { name: 'Ask now' });
  await door.or(askNow).first().waitFor();
  if (await askNow.isVisible()) await askNow.click({ timeout: 5000 }).catch(() => {});
  await door.waitFor();
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  return port;
}
