// node benchmarks/console-paint.js: how soon the page of the console is painted in a browser that has just started.
// Needs Chromium (ISTHMUS_BROWSER, or where systems put it) and a build.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { median } from './lib/statistics.js';

const ROUNDS = 15;
const ISTHMUS = fileURLToPath(new URL('../bin/isthmus.js', import.meta.url));
const PLACES = [process.env['ISTHMUS_BROWSER'] ?? '', '/usr/bin/chromium', '/usr/bin/google-chrome'];
const executablePath = PLACES.find((path) => path !== '' && existsSync(path));
if (!executablePath) {
  process.stderr.write('There is no Chromium here: set ISTHMUS_BROWSER to its path\n');
  process.exit(2);
}

const rounds = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const { link, linkMs, stop } = await startInspect();
  rounds.push({ link: linkMs, ...(await openCold(link)) });
  await stop();
}
for (const [name, say] of [
  ['link', 'isthmus inspect prints its link'],
  ['paint', 'first contentful paint'],
  ['usable', 'the name of the server is shown'],
]) {
  const times = rounds.map((round) => round[name]).sort((one, other) => one - other);
  const [first, last] = [times[0], times.at(-1)].map(Math.round);
  process.stdout.write(`${say}: ${Math.round(median(times))} ms (${first} to ${last}, ${ROUNDS} rounds)\n`);
}

/** The demo, inspected. Its own start is not measured: the page may be there before it. */
async function startInspect() {
  const began = performance.now();
  const args = [ISTHMUS, 'inspect', '--no-open', '--json', '--', process.execPath, ISTHMUS, 'demo'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const [line] = await new Promise((resolve, reject) => {
    createInterface(child.stdout).once('line', (text) => resolve([text]));
    child.once('exit', () => reject(new Error('isthmus inspect has ended before it printed its link')));
  });
  const linkMs = performance.now() - began;
  const stop = () => {
    child.kill('SIGTERM');
    return ended;
  };
  return { link: JSON.parse(line).url, linkMs, stop };
}

/** In a new process of the browser, with an empty cache. Times count from the begin of the navigation. */
async function openCold(link) {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const page = await browser.newPage();
  await page.goto(link);
  await page.locator('main h1').first().waitFor();
  const usable = await page.evaluate(() => performance.now());
  const paint = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const seen = (entries) => {
          const entry = entries.find(({ name }) => name === 'first-contentful-paint');
          if (entry) resolve(entry.startTime);
        };
        seen(performance.getEntriesByType('paint'));
        new PerformanceObserver((list) => seen(list.getEntries())).observe({ type: 'paint', buffered: true });
      }),
  );
  await browser.close();
  return { paint, usable };
}
