/** The page of an operator: servers that crash, files that are broken, restarts that wait, recordings that show. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { ISTHMUS } from '../support/child.js';
import { connectV1 } from '../support/official-v1.js';
import { expectSound } from './support/axe.js';
import { goTo } from './support/in-page.mjs';
import { startServe } from './support/start-serve.js';
import { openWatched } from './support/watched-page.js';

const demo = { command: process.execPath, args: [ISTHMUS, 'demo'] };

describeInBrowser('the page of a gateway', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  async function open(servers: object): Promise<{ page: Page; file: string }> {
    const file = join(mkdtempSync(join(tmpdir(), 'isthmus-gateway-page-')), 'servers.json');
    writeFileSync(file, JSON.stringify({ mcpServers: servers }));
    const { link } = await startServe(['--config', file]);
    const { page } = await openWatched(browser, link, { expected: /status of 4/ });
    return { page, file };
  }

  it('counts down to the next start of a server that crashes, and shows the receipt of the one that works', async () => {
    const wanted = join(mkdtempSync(join(tmpdir(), 'isthmus-gateway-page-')), 'wanted');
    const args = ['test/programs/server-needs-a-file.mjs', wanted];
    const { page } = await open({ picky: { command: process.execPath, args, cwd: process.cwd() } });
    const row = page.getByRole('row', { name: /^picky/ });
    await row.getByText(/^✕ failed|restarting/).waitFor();
    await page
      .getByText(/again in \d+ s/)
      .first()
      .waitFor();
    await page
      .getByText(/cannot read .*wanted/)
      .first()
      .waitFor();
    await expectSound(page, 'a server that crashes');
    await page.getByRole('link', { name: 'why, and what to do' }).click();
    await page.getByText(/^generation \d+$/).waitFor();
    await expectSound(page, 'the state of a server that crashes');
    writeFileSync(wanted, '');
    await page.getByRole('link', { name: 'Servers' }).click();
    // A person does not wait for the end of the countdown.
    await row.getByRole('button', { name: 'start picky' }).click();
    await row.getByText('● ready').waitFor();
    await row.getByText(/^1 tool$/).waitFor();
    await page.getByRole('link', { name: 'picky', exact: true }).click();
    const generation = Number((await page.getByText(/^generation \d+$/).innerText()).slice(11));
    expect(generation).toBeGreaterThan(1);
    await page.getByText(/^tools\/list with 1, /).waitFor();
    await page.getByRole('button', { name: 'restart picky' }).click();
    await page.getByText(`generation ${generation + 1}`, { exact: true }).waitFor();
    await page.getByRole('listitem').filter({ hasText: 'ended, as requested' }).first().waitFor();
  }, 90_000);

  it('keeps a configuration in force while its file is broken, and says where', async () => {
    const { page, file } = await open({ demo: { ...demo, maxParkedd: 3 } });
    await page.evaluate(goTo, '#/settings');
    const warning = page.getByRole('listitem').filter({ hasText: 'did you mean maxParked?' });
    await warning.getByText('mcpServers.demo.maxParkedd: is not known; did you mean maxParked?').waitFor();
    await expectSound(page, 'warnings');
    await page.evaluate(goTo, '#/');
    await page.getByRole('row', { name: /demo.*ready/ }).waitFor();
    writeFileSync(file, '{\n  "mcpServers": {\n    "demo": { "command": 7 }\n  }\n}\n');
    await page.getByRole('button', { name: 'Reload the configuration' }).click();
    const problem = page.getByRole('alert').filter({ hasText: 'servers.json:3:' });
    await problem.first().waitFor();
    await page.getByText('The configuration of before is in force.').first().waitFor();
    await expectSound(page, 'a broken configuration');
    await page.getByRole('row', { name: /demo.*ready/ }).waitFor();
    await page.evaluate(goTo, '#/settings');
    await problem.first().waitFor();
    // The problem is not said a second time as a warning, and the earlier warning was of the earlier file.
    expect(await page.getByRole('heading', { name: 'Warnings of the configuration' }).count()).toBe(0);
    writeFileSync(file, JSON.stringify({ mcpServers: { demo, another: demo } }));
    await page.getByRole('link', { name: 'Servers' }).click();
    await page.getByRole('button', { name: 'Reload the configuration' }).click();
    await page.getByText(/^Taken over\. /).waitFor();
    await page.getByRole('row', { name: /another.*ready/ }).waitFor();
    await expect.poll(() => problem.count()).toBe(0);
    await page.evaluate(goTo, '#/settings');
    await page.getByRole('heading', { name: 'another' }).waitFor();
    expect(await warning.count()).toBe(0);
  }, 90_000);

  it('finishes the calls of a server before it is restarted, and is worked by keyboard', async () => {
    const { page } = await open({ demo });
    const row = page.getByRole('row', { name: /^demo/ });
    await row.getByText('● ready').waitFor();
    await page.evaluate(goTo, '#/server/demo/tools/sleep');
    await page.getByRole('textbox', { name: /^ms/ }).fill('8000');
    await page.getByRole('button', { name: /^Call Ctrl|^Call$/ }).click();
    await page.getByRole('progressbar').first().waitFor();
    await page.evaluate(goTo, '#/');
    await row.getByRole('link', { name: 'demo' }).focus();
    await expect.poll(() => row.getByTitle('1 running, 0 waiting').count()).toBe(1);
    await page.keyboard.press('.');
    await row.getByText('1 call will be finished first.').waitFor();
    await page.keyboard.press('.');
    await page.evaluate(goTo, '#/calls');
    await page.getByRole('row', { name: /sleep.*ok/ }).waitFor();
    await page.evaluate(goTo, '#/server/demo');
    await page.getByText('generation 2', { exact: true }).waitFor();
    await page.evaluate(goTo, '#/');
    await row.getByRole('link', { name: 'demo' }).focus();
    await page.keyboard.press('l');
    await page.getByRole('heading', { name: 'Logs', level: 1 }).waitFor();
    await page
      .getByText(/draining/)
      .first()
      .waitFor();
    // A choice is part of the address, and a link with it leads to it.
    await page.getByLabel('Source').selectOption('process');
    expect(new URL(page.url()).hash).toBe('#/server/demo/logs?source=process');
    await page.evaluate(goTo, '#/calls?outcome=cancelled');
    await page.getByText('No call fits the filter.').waitFor();
  }, 90_000);

  it('shows how much of its limit a caller uses', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'isthmus-gateway-page-')), 'servers.json');
    const limited = { ...demo, limits: { maxConcurrentPerCaller: 2 } };
    writeFileSync(file, JSON.stringify({ mcpServers: { limited } }));
    const key = 'a-key-of-the-test-0001';
    const { link, url } = await startServe(['--config', file, '--api-key', `ci=${key}`]);
    const { page } = await openWatched(browser, link);
    const { client } = await connectV1({ url }, { headers: { Authorization: `Bearer ${key}` } });
    onTestFinished(() => client.close());
    const abort = new AbortController();
    const { signal } = abort;
    const calls = [1, 2, 3].map(() =>
      client.callTool({ name: 'sleep', arguments: { ms: 60_000 } }, undefined, { signal }).catch(() => {}),
    );
    await page.evaluate(goTo, '#/callers');
    const row = page.getByRole('row', { name: /^ci|^key:ci/ });
    await row.getByText('2/2', { exact: true }).waitFor();
    await row.getByText(/^limited 2\/2 1 waits$/).waitFor();
    await expectSound(page, 'limits of callers');
    abort.abort();
    await Promise.all(calls);
    await row.getByText('0/2', { exact: true }).waitFor();
  }, 90_000);

  it('says on every screen that messages are recorded, until somebody ends it', async () => {
    const { page } = await open({ demo });
    await page.getByRole('row', { name: /demo.*ready/ }).waitFor();
    await page.getByRole('button', { name: 'Record', exact: true }).click();
    const banner = page.getByRole('status').filter({ hasText: /console-1 records all servers/ });
    for (const screen of ['', 'calls', 'settings', 'server/demo', 'server/demo/tools/echo']) {
      await page.evaluate(goTo, `#/${screen}`);
      await banner.getByText(/15 min more/).waitFor();
    }
    await banner.getByRole('button', { name: 'End the recording' }).click();
    await expect.poll(() => banner.count()).toBe(0);
    await page.evaluate(goTo, '#/logs');
    await page.getByRole('heading', { name: 'Logs', level: 1 }).waitFor();
  }, 90_000);
});
