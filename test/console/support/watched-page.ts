import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';

/** A page, and all that it must not do. */
export interface WatchedPage {
  readonly page: Page;
  /** Errors of scripts, violations of the policy, requests to other origins, dialogs, other windows. */
  readonly problems: readonly string[];
}

/** Opens an address. The test fails for every problem that `expected` does not name. */
export async function openWatched(
  browser: Browser,
  url: string,
  { expected, ...options }: BrowserContextOptions & { readonly expected?: RegExp } = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const problems: string[] = [];
  const note = (problem: string) => {
    if (!expected?.test(problem)) problems.push(problem);
  };
  const { origin } = new URL(url);
  context.on('request', (request) => {
    const asked = new URL(request.url());
    if (asked.origin !== origin && asked.protocol !== 'blob:') note(`request ${request.url().slice(0, 200)}`);
  });
  // What the policy stops has not left the browser.
  context.on('requestfailed', (request) => {
    const at = problems.indexOf(`request ${request.url().slice(0, 200)}`);
    if (at >= 0 && request.failure()?.errorText === 'csp') problems.splice(at, 1);
  });
  const page = await context.newPage();
  page.on('pageerror', (error) => note(`error ${String(error)}`));
  page.on('console', (message) => {
    if (message.type() === 'error') note(`console ${message.text()}`);
  });
  page.on('dialog', (dialog) => {
    note(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('websocket', (socket) => note(`websocket ${socket.url()}`));
  context.on('page', (other) => note(`window ${other.url()}`));
  onTestFinished(async () => {
    await context.close();
    expect(problems).toEqual([]);
  });
  await page.goto(url);
  return { page, problems };
}
