/** The documentation site, as `npm run site` builds it, opened from files: no server, no network. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildSite } from '../../site/build.js';
import { deadLinks } from '../../site/links.js';
import { describeInBrowser, launchBrowser } from '../support/browser.js';

let folder: string;
let pages: string[];

// It also fails for a dead link.
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'isthmus-site-'));
  await buildSite(folder);
  const files = (await readdir(folder, { recursive: true })).map((path) => path.replaceAll('\\', '/'));
  pages = files.filter((path) => path.endsWith('.html')).sort();
}, 300_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

it('has a page for every document, every entry point and every decision', async () => {
  const decisions = (await readdir(new URL('../../docs/decisions', import.meta.url))).length;
  expect(pages).toEqual(expect.arrayContaining(['index.html', 'gateway.html', 'project/changelog.html']));
  expect(pages.filter((page) => page.startsWith('reference/'))).toHaveLength(12);
  expect(pages.filter((page) => page.startsWith('decisions/'))).toHaveLength(decisions + 1);
});

it('loads nothing from elsewhere', async () => {
  for (const page of pages) {
    const html = await readFile(join(folder, page), 'utf8');
    expect(
      html.match(/(?:<script[^>]*|<link[^>]*|<img[^>]*)(?:src|href)="(?!data:)[a-z]+:/g),
      page,
    ).toBeNull();
  }
});

it('finds a link to a page that does not exist, and one to a heading that does not exist', async () => {
  const other = await mkdtemp(join(tmpdir(), 'isthmus-links-'));
  await writeFile(
    join(other, 'a.html'),
    '<h1 id="x">A</h1><a href="b.html">b</a><a href="#x">x</a><a href="#y">y</a>',
  );
  expect(deadLinks(other)).toEqual(['a.html: b.html does not exist', 'a.html: #y has no such heading']);
  await rm(other, { recursive: true });
});

describeInBrowser('the site in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  /** Opens a page, and fails for an error of its scripts. */
  async function open<T>(
    path: string,
    look: (page: Page) => Promise<T>,
    options: BrowserContextOptions = {},
  ): Promise<T> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const errors: string[] = [];
    try {
      const page = await context.newPage();
      page.on('pageerror', (error) => errors.push(String(error)));
      await page.goto(pathToFileURL(join(folder, path)).href);
      const seen = await look(page);
      expect(errors).toEqual([]);
      return seen;
    } finally {
      await context.close();
    }
  }

  it('has the groups of the navigation, and leads to a page', () =>
    open('index.html', async (page) => {
      expect(await page.locator('nav summary').allTextContents()).toEqual([
        ...['Start', 'Guides', 'Serve', 'Operate', 'Explore', 'Test', 'Reference', 'Decisions'],
      ]);
      await page.locator('nav summary', { hasText: 'Serve' }).click();
      await page.locator('nav a[href="gateway.html"]').click();
      await page.waitForURL(/gateway\.html$/);
      expect(await page.locator('nav a[aria-current]').getAttribute('href')).toBe('gateway.html');
      expect(await page.locator('nav details[open] summary').allTextContents()).toEqual(['Serve']);
    }));

  it('searches without a network, from a page in a folder too', () =>
    open('decisions/index.html', async (page) => {
      await page.keyboard.press('/');
      await page.keyboard.type('createGateway');
      const first = page.locator('#results a').first();
      await first.waitFor();
      expect(await first.locator('strong').textContent()).toMatch(/createGateway/i);
      await page.keyboard.press('Enter');
      await page.waitForURL(/reference\/gateway\.html#creategateway/i);
    }));

  it('says when nothing is found, and closes the results', () =>
    open('index.html', async (page) => {
      await page.fill('#search', 'xyzzyplugh');
      expect(await page.locator('#results li').textContent()).toBe('Nothing found');
      await page.keyboard.press('Escape');
      expect(await page.locator('#results').isHidden()).toBe(true);
    }));

  it('copies code', () =>
    open(
      'index.html',
      async (page) => {
        const block = page.locator('.code').first();
        const code = await block.locator('code').textContent();
        await block.locator('.copy').click();
        await block.locator('.copy', { hasText: 'Copied' }).waitFor();
        expect(await page.evaluate('navigator.clipboard.readText()')).toBe(code?.replace(/\n$/, ''));
      },
      { permissions: ['clipboard-read', 'clipboard-write'] },
    ));

  it('follows the colours of the system, and remembers another choice', () =>
    open(
      'eras.html',
      async (page) => {
        const colours = () =>
          page.evaluate(`[document.documentElement, document.querySelector('svg .box')].map((element) => {
            const style = getComputedStyle(element);
            return element.tagName === 'HTML' ? style.backgroundColor : style.fill;
          })`);
        const dark = ['rgb(15, 19, 24)', 'rgb(22, 27, 34)'];
        const light = ['rgb(255, 255, 255)', 'rgb(244, 246, 249)'];
        expect(await colours()).toEqual(dark);
        await page.click('#theme');
        expect(await colours()).toEqual(light);
        await page.reload();
        expect(await colours()).toEqual(light);
      },
      { colorScheme: 'dark' },
    ));

  it(
    'fits a phone: no page scrolls sideways, and the navigation opens',
    () =>
      open(
        'index.html',
        async (page) => {
          expect(await page.locator('nav').isVisible()).toBe(false);
          await page.click('#menu');
          expect(await page.locator('nav').isVisible()).toBe(true);
          for (const path of pages) {
            await page.goto(pathToFileURL(join(folder, path)).href);
            expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBe(360);
          }
        },
        { viewport: { width: 360, height: 740 }, hasTouch: true },
      ),
    120_000,
  );
});
