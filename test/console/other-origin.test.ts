/** A page of another origin that knows the address of the console, and even a key: it reads nothing and changes nothing. */
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { ConsoleClient } from '../../packages/console/test/support/console-client.js';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { ISTHMUS } from '../support/child.js';
import { tryEverything } from './support/in-page.mjs';
import { startInspect } from './support/start-inspect.js';

describeInBrowser('a page of another origin', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it('cannot fetch, stream, post a form, frame or connect to the console', async () => {
    const client = await ConsoleClient.enter(await startInspect([process.execPath, ISTHMUS, 'demo']));
    const { origin, key } = client;
    const foreign = createServer((_, response) => {
      response.setHeader('content-type', 'text/html');
      response.end('<h1>elsewhere</h1><iframe name="into"></iframe>');
    });
    await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void foreign.close());
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`);
    const api = `${origin}/console/api`;
    const seen = await page.evaluate(tryEverything, { api, origin, key });
    expect(seen).toEqual({
      fetched: ['refused', 'refused', 'refused', 'refused'],
      streamed: 'error',
      socket: 'error',
      framed: 'closed',
    });
    // The browser shows its own page of an error, not the console.
    expect(await page.frameLocator('iframe').locator('#page').count()).toBe(0);
    expect((await client.ask('GET calls')).calls).toEqual([]);
  }, 60_000);

  it('does not reach it under another name (DNS rebinding), even with a key', async () => {
    const client = await ConsoleClient.enter(await startInspect([process.execPath, ISTHMUS, 'demo']));
    const { port } = new URL(client.origin);
    const ask = (path: string, host: string) =>
      new Promise<number>((resolve, reject) => {
        const headers = { host, 'isthmus-key': client.key };
        httpRequest({ host: '127.0.0.1', port, path, headers }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        })
          .on('error', reject)
          .end();
      });
    expect(await ask('/console/api/hello', `127.0.0.1:${port}`)).toBe(200);
    for (const path of ['/console/api/hello', '/console/'])
      for (const host of [
        `attacker.example:${port}`,
        'attacker.example',
        `127.0.0.1.attacker.example:${port}`,
      ])
        expect(await ask(path, host)).toBe(403);
  }, 60_000);
});
