import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeInBrowser, launchBrowser } from '../../../../test/support/browser.js';
import type { Report } from '../../src/model.js';
import { toHtml } from '../../src/report/html/page.js';
import { HOSTILE, hostileReport } from '../support/report/hostile-report.js';
import { LOW_CONTRAST, OBSTACLES, OPEN_ALL, SHOWN, TOO_WIDE } from '../support/report/page-audit.js';
import { aFinding, aReport, sampleFindings } from '../support/report/sample-report.js';

const FAILS = 'Answers a line that is not JSON with -32700';
const report = aReport({ stale: ['a/b holds now: remove it from the baseline'] });

describeInBrowser('the HTML report in a browser', () => {
  let browser: Browser;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'isthmus-html-'));
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Shows a report, and collects whatever the page asks for or complains about. */
  async function show<T>(
    shown: Report,
    look: (page: Page) => Promise<T>,
    options: BrowserContextOptions = {},
  ): Promise<T> {
    const file = pathToFileURL(join(folder, 'report.html')).href;
    await writeFile(join(folder, 'report.html'), toHtml(shown));
    const context = await browser.newContext(options);
    try {
      const page = await context.newPage();
      const odd: string[] = [];
      page.on('request', (request) => request.url() !== file && odd.push(request.url()));
      page.on('console', (message) => odd.push(message.text()));
      page.on('pageerror', (error) => odd.push(String(error)));
      page.on('dialog', (dialog) => odd.push(dialog.message()));
      await page.goto(file);
      const seen = await look(page);
      expect(odd).toEqual([]);
      return seen;
    } finally {
      await context.close();
    }
  }

  it('says first what fails, and by how much', async () => {
    await show(report, async (page) => {
      expect(await page.title()).toBe('F · node weather.js · isthmus check');
      expect(await page.locator('h1').textContent()).toBe('node weather.js');
      expect(await page.locator('.grade').getAttribute('aria-label')).toBe('Grade F');
      expect(await page.locator('.verdict').textContent()).toBe(
        'Failed: 1 MUST is broken, 1 check could not be finished, 1 entry of the baseline is stale',
      );
      expect(await page.locator('.stale li').allInnerTexts()).toEqual([
        'a/b holds now: remove it from the baseline',
      ]);
      expect(await page.evaluate(SHOWN)).toEqual([
        FAILS,
        'Ends on SIGTERM',
        'Describes every tool',
        'Has valid input schemas',
      ]);
      expect(await page.locator('.suites tbody tr').allInnerTexts()).toEqual([
        'protocol\t0\t0\t0\t0\t0\t2\t',
        'resilience\t1\t0\t0\t0\t0\t0\t',
        'lifetime\t0\t1\t0\t0\t0\t0\t',
        'http\t0\t0\t0\t0\t2\t0\t',
        'tools\t0\t0\t1\t1\t0\t0\t',
      ]);
    });
  });

  it('has all about a failure, and the wire behind a fold', async () => {
    await show(report, async (page) => {
      const card = page.getByRole('article').first();
      expect(await card.locator('dt, dd').allTextContents()).toEqual([
        'Seen',
        'The process ended with exit code 1, 8 ms after the line.',
        'Expected',
        'An error -32700 without an id, and a server that lives on.',
        'Rules',
        'JRPC-014 (MUST NOT): A client never emits JSON-RPC responses on any transport.',
        'STDIO-009 (MUST NOT): The client writes no JSON-RPC responses to stdin in the modern era.',
        'How to fix it',
        'Catch the error of JSON.parse, answer with -32700, and read on.',
        'Smallest input',
        '{"jsonrpc":"2.0","id":1,',
      ]);
      expect(await card.locator('.wire li').first().isVisible()).toBe(false);
      await card.locator('summary').press('Enter');
      expect(await card.locator('.wire pre').allInnerTexts()).toEqual([
        'started: node weather.js',
        '{"jsonrpc":"2.0","id":1,',
        'exit code 1',
      ]);
    });
  });

  it('shows what is looked for: a word, a suite, an outcome', async () => {
    await show(report, async (page) => {
      const shown = page.locator('#shown');
      await page.getByLabel('Search').fill('jrpc-014');
      expect(await page.evaluate(SHOWN)).toEqual([FAILS]);
      expect(await shown.textContent()).toBe('1 of 8 shown');
      await page.getByLabel('Search').fill('EMPTY ping');
      expect(await page.evaluate(SHOWN)).toEqual(['Answers ping with an empty result']);
      await page.getByRole('button', { name: 'Show all' }).click();
      await page.getByLabel('Suite').selectOption('http');
      expect(await page.evaluate(SHOWN)).toEqual([
        'Refuses requests of foreign origins with 403',
        'Answers GET with a stream or with 405',
      ]);
      await page.getByLabel('Suite').selectOption('tools');
      await page.getByRole('checkbox', { name: 'known' }).press('Space');
      expect(await page.evaluate(SHOWN)).toEqual(['Describes every tool']);
      await page.getByLabel('Search').fill('nothing has this');
      expect(await page.evaluate(SHOWN)).toEqual([]);
      expect(await shown.textContent()).toBe('0 of 8 shown');
      expect(await page.getByRole('heading', { name: 'What fails' }).isVisible()).toBe(false);
      await page.getByRole('button', { name: 'Show all' }).click();
      expect(((await page.evaluate(SHOWN)) as string[]).length).toBe(4);
      expect(await shown.textContent()).toBe('');
    });
  });

  it('can be read without JavaScript', async () => {
    const look = async (page: Page) => {
      expect(await page.getByRole('heading', { name: FAILS }).isVisible()).toBe(true);
      expect(await page.locator('#filter').isVisible()).toBe(false);
      await page.getByText('What holds').last().click();
      expect(await page.getByText('Answers ping with an empty result').isVisible()).toBe(true);
      await page.getByText('On the wire').click();
      expect(await page.locator('.wire pre').first().textContent()).toBe('started: node weather.js');
    };
    await show(report, look, { javaScriptEnabled: false });
  });

  it.each(['light', 'dark'] as const)('has enough contrast in the %s', async (colorScheme) => {
    const look = async (page: Page) => {
      await page.evaluate(OPEN_ALL);
      const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
      expect(ground).toBe(colorScheme === 'light' ? 'rgb(246, 247, 249)' : 'rgb(16, 19, 24)');
      expect(await page.evaluate(LOW_CONTRAST)).toEqual([]);
    };
    await show(report, look, { colorScheme });
    await show(aReport({ findings: [aFinding()] }), look, { colorScheme });
  });

  it.each([
    [320, report],
    [360, report],
    [360, hostileReport()],
    [1200, report],
  ])('fits into a window of %i pixels', async (width, shown) => {
    const look = async (page: Page) => {
      await page.evaluate(OPEN_ALL);
      expect(await page.evaluate(TOO_WIDE)).toEqual([]);
    };
    await show(shown, look, { viewport: { width, height: 700 } });
  });

  it('puts nothing in the way of those who cannot see it or have no mouse', async () => {
    await show(report, async (page) => {
      expect(await page.evaluate(OBSTACLES)).toEqual([]);
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the findings');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.hash')).toBe('#fails');
      for (let at = 0; at < 5; at += 1) await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.name')).toBe('text');
      expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
      await page.keyboard.type('sigterm');
      expect(await page.evaluate(SHOWN)).toEqual(['Ends on SIGTERM']);
    });
  });

  it('takes no harm from what a server says', async () => {
    await show(hostileReport(), async (page) => {
      await page.evaluate(OPEN_ALL);
      await page.locator('h1').hover();
      await page.getByLabel('Search').fill('<script>');
      expect(await page.evaluate('globalThis.harmed')).toBeUndefined();
      expect(await page.evaluate("document.querySelectorAll('script').length")).toBe(1);
      expect(
        await page.evaluate("document.querySelectorAll('img, [onerror], [onmouseover], failure').length"),
      ).toBe(0);
      const texts = await page.locator('#hostile-fail-modern .wire pre').allTextContents();
      expect(texts.slice(0, 4)).toEqual(HOSTILE.slice(0, 4));
      expect(texts.slice(4, 7)).toEqual([
        '‹U+202E›everything is fine‹U+202C›‹U+200B›‹U+2066›',
        '‹U+0000›‹U+0001›‹U+0007›‹U+001B›[31m‹U+001B›]0;title‹U+0007›‹U+007F›‹U+009B›31m‹U+FFFE›‹U+FFFF›‹U+D800›',
        'line\nend‹U+000D›and\ttab',
      ]);
      expect(texts[7]).toMatch(/^(<b>x){5000} … \(980000 more characters; --json has them\)$/);
    });
  });

  it('runs no script but its own, even if one should get in', async () => {
    const file = join(folder, 'injected.html');
    const injected =
      '<script>globalThis.harmed = true</script><img src="x" onerror="globalThis.harmed = true">';
    await writeFile(
      file,
      toHtml(report).replace('<main>', () => `<main>${injected}`),
    );
    const page = await browser.newPage();
    try {
      await page.goto(pathToFileURL(file).href);
      expect(await page.evaluate('globalThis.harmed')).toBeUndefined();
      expect(await page.locator('#filter').isVisible()).toBe(true);
    } finally {
      await page.close();
    }
  });

  it('can be linked to, finding by finding', async () => {
    await show(report, async (page) => {
      await page.getByRole('link', { name: 'stdio/answers-what-is-not-json' }).click();
      expect(await page.evaluate('location.hash')).toBe('#stdio-answers-what-is-not-json-modern');
    });
  });
});

describe('the HTML report as text', () => {
  it('is whole when nothing was found', () => {
    const page = toHtml(aReport({ findings: [] }));
    expect(page).toContain('<strong>Failed</strong>: no check applied');
    expect(page.endsWith('</html>\n')).toBe(true);
  });

  it('follows --fail-on', () => {
    const findings = sampleFindings().filter(({ outcome }) => outcome === 'warn' || outcome === 'pass');
    expect(toHtml(aReport({ findings }))).toContain('<strong>Passed</strong>');
    expect(toHtml(aReport({ findings }), { failOn: 'should' })).toContain(
      '<strong>Failed</strong>: 1 SHOULD is broken',
    );
  });

  it('stays small when a server is not', () => {
    expect(toHtml(hostileReport()).length).toBeLessThan(600_000);
  });
});
