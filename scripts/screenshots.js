// npm run screenshots: makes docs/images/console-*.webp with a real browser, from real servers. Each is under 60 kB.
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { SetupError } from './setup/main.js';
import { inRoot } from './setup/paths.js';
import { ensureBuilt, ensureInstalled, runMain } from './setup.js';

const MAX_BYTES = 60_000;
const BROWSERS = [process.env['ISTHMUS_BROWSER'] ?? '', '/usr/bin/chromium', '/usr/bin/google-chrome'];
const children = [];
const EVERYTHING = 'node_modules/@modelcontextprotocol/server-everything/dist/index.js';

await runMain(async () => {
  await ensureInstalled();
  await ensureBuilt();
  const executablePath = BROWSERS.find((path) => path !== '' && existsSync(path));
  if (!executablePath) throw new SetupError('There is no Chromium here: set ISTHMUS_BROWSER to its path');
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    await inspected(browser);
    await gateway(browser);
  } finally {
    for (const child of children) child.kill('SIGTERM');
    await browser.close();
  }
});

async function inspected(browser) {
  const { link, stop } = await started([
    'inspect',
    '--no-open',
    '--json',
    '--',
    process.execPath,
    EVERYTHING,
  ]);
  const page = await opened(browser, link, 'light');
  await page.getByRole('heading', { name: 'Why legacy?' }).waitFor();
  await page.getByRole('link', { name: /^\d+ tools$/ }).waitFor();
  await save(page, 'console-overview');
  await go(page, '#/tools/trigger-elicitation-request');
  await page.getByRole('button', { name: 'Call in both eras' }).click();
  await page.getByRole('textbox', { name: /^name\b/ }).fill('Ada');
  await page.getByRole('button', { name: 'Accept' }).click();
  await page.getByRole('region', { name: 'Lens' }).getByText('✓ ok').waitFor();
  await page.getByRole('region', { name: 'Differences', exact: true }).waitFor();
  await save(page, 'console-lens');
  await page.emulateMedia({ colorScheme: 'dark' });
  await go(page, '#/tools/get-structured-content');
  await page.getByRole('combobox', { name: /^location\b/ }).selectOption({ index: 1 });
  await page.getByRole('button', { name: /^Call (Ctrl|⌘)/ }).click();
  await page.getByText('fits its output schema').waitFor();
  await save(page, 'console-tools');
  await go(page, '#/frame/6');
  await page.getByRole('region', { name: 'Frame 6', exact: true }).getByRole('heading').waitFor();
  await save(page, 'console-wire');
  await stop();
}

async function gateway(browser) {
  const node = (...args) => ({ command: process.execPath, args, cwd: inRoot('.') });
  const words = 'console.error("Error: WEATHER_API_KEY is not set"); process.exit(1)';
  const mcpServers = {
    everything: node(EVERYTHING),
    demo: node('bin/isthmus.js', 'demo'),
    weather: node('-e', words),
    notes: { ...node('bin/isthmus.js', 'demo'), start: 'lazy' },
  };
  const folder = await mkdtemp(join(tmpdir(), 'isthmus-screenshots-'));
  const file = join(folder, 'servers.json');
  await writeFile(file, JSON.stringify({ mcpServers }));
  const serve = ['serve', '--listen', 'http://127.0.0.1:0/mcp', '--console', '127.0.0.1:0'];
  const { link, stop } = await started([...serve, '--config', file]);
  const page = await opened(browser, link, 'light');
  await page.getByRole('row', { name: /demo.*ready/ }).waitFor();
  await page.getByRole('row', { name: /everything.*ready/ }).waitFor();
  const address = await page
    .getByText(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/)
    .first()
    .innerText();
  const isthmus = promisify(execFile).bind(undefined, process.execPath);
  for (let round = 0; round < 3; round += 1)
    for (const [server, argument] of [
      ['demo', 'text=hello'],
      ['everything', 'message=hello'],
    ])
      await isthmus(['bin/isthmus.js', 'call', `${address}/${server}`, 'echo', argument], {
        cwd: inRoot('.'),
      });
  // A line of the last minutes has a point every 5 s.
  await page.locator('.spark').first().waitFor();
  await page
    .getByText(/again in \d+ s/)
    .first()
    .waitFor();
  await save(page, 'console-gateway');
  await stop();
  await rm(folder, { recursive: true });
}

/** Runs isthmus. Settles with the link that it prints. */
async function started(args) {
  const child = spawn(process.execPath, ['bin/isthmus.js', ...args], { cwd: inRoot('.'), stdio: 'pipe' });
  children.push(child);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const link = await new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      createInterface(stream).on('line', (line) => {
        const [found] = /http:\/\/[^\s"]+#enter=[\w-]+/.exec(line) ?? [];
        if (found) resolve(found);
      });
    ended.then(() => reject(new SetupError('isthmus has ended before it printed its link')));
  });
  return {
    link,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function opened(browser, link, colorScheme) {
  const page = await browser.newPage({ viewport: { width: 1120, height: 700 }, colorScheme });
  await page.goto(link);
  return page;
}

function go(page, fragment) {
  return page.evaluate((hash) => {
    location.hash = hash;
  }, fragment);
}

/** As WebP, which the browser writes itself: a third of a PNG, and text stays sharp. */
async function save(page, name) {
  const png = await page.screenshot();
  const writer = await page.context().browser().newPage();
  const data = await writer.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const canvas = Object.assign(document.createElement('canvas'), {
      width: bitmap.width,
      height: bitmap.height,
    });
    canvas.getContext('2d').drawImage(bitmap, 0, 0);
    return canvas.toDataURL('image/webp', 0.75).split(',')[1];
  }, png.toString('base64'));
  await writer.close();
  const image = Buffer.from(data, 'base64');
  if (image.length > MAX_BYTES)
    throw new SetupError(`${name} has ${image.length} bytes, more than ${MAX_BYTES}`);
  await writeFile(inRoot(`docs/images/${name}.webp`), image);
  console.log(`${name}.webp ${image.length} bytes`);
}
