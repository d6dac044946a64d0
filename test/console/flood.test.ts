/** A server that sends 10,000 frames a second for six seconds: the page stays quick and small, and loses nothing. */
import type { Browser, CDPSession } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { nextFrame } from './support/in-page.mjs';
import { startInspect } from './support/start-inspect.js';
import { openWatched } from './support/watched-page.js';

const PROGRAM = new URL('../programs/server-of-many-frames.mjs', import.meta.url).pathname;

describeInBrowser('the page in a flood', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it.each(['Wire', 'Logs'])(
    'has no task over 100 ms and a bounded heap while it shows %s',
    async (screen) => {
      const { page } = await openWatched(browser, await startInspect([process.execPath, PROGRAM]));
      const debug = await page.context().newCDPSession(page);
      await page.getByRole('link', { name: /^Tools/ }).click();
      await page.getByRole('link', { name: /^flood/ }).click();
      await browser.startTracing(page, { categories: ['toplevel'] });
      await page.getByRole('button', { name: /^Call Ctrl|^Call$/ }).click();
      await page.getByRole('link', { name: screen, exact: true }).click();
      const filter = page.getByRole('searchbox', { name: /^Filter/ });
      await page
        .getByText(/message \d{4} of the flood|notifications\/message/)
        .first()
        .waitFor();
      // A person types meanwhile.
      await filter.pressSequentially('tools/call', { delay: 100 });
      const peaks: number[] = [];
      await page.getByRole('link', { name: 'Wire', exact: true }).click();
      // The screen before has a filter, too.
      await page.getByRole('searchbox', { name: 'Search in the bodies' }).waitFor();
      const answer = page.getByRole('row', { name: /result\s+tools\/call/ });
      if (screen === 'Logs') await page.getByRole('searchbox', { name: /^Filter/ }).fill('tools/call');
      while ((await answer.count()) === 0) {
        peaks.push(await heapOf(debug));
        await page.evaluate(nextFrame);
      }
      const longest = longestTask(await browser.stopTracing());
      expect(longest).toBeGreaterThan(0);
      expect(longest).toBeLessThan(100);
      expect(Math.max(...peaks)).toBeLessThan(64e6);
      await debug.send('HeapProfiler.collectGarbage');
      expect(await heapOf(debug)).toBeLessThan(16e6);
      // The process has every frame, with its exact bytes.
      await page.getByRole('button', { name: 'Clear the filter' }).click();
      await page.getByRole('searchbox', { name: 'Search in the bodies' }).fill('message 59998 of the flood');
      await page.keyboard.press('Enter');
      await page.locator('[role="grid"][aria-rowcount="1"]').getByRole('row').click();
      await page.getByRole('button', { name: 'Exact bytes' }).click();
      await page
        .getByText(
          '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"message 59998 of the flood"}}',
        )
        .waitFor();
    },
    120_000,
  );
});

async function heapOf(debug: CDPSession): Promise<number> {
  return (await debug.send('Runtime.getHeapUsage')).usedSize;
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

/**
 * The longest task of the page, in milliseconds that its thread ran: what other programs of a busy machine take meanwhile
 * is not its own.
 */
function longestTask(trace: Buffer): number {
  const { traceEvents } = JSON.parse(trace.toString()) as { readonly traceEvents: readonly TraceEvent[] };
  const threads = traceEvents
    .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
    .map(({ pid, tid }) => `${pid} ${tid}`);
  const tasks = traceEvents.filter(
    ({ name, pid, tid }) => name.endsWith('RunTask') && threads.includes(`${pid} ${tid}`),
  );
  return Math.max(0, ...tasks.map(({ tdur = 0 }) => tdur / 1000));
}
