import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { describe } from 'vitest';

/** Where systems put it. `ISTHMUS_BROWSER` names another one; `required` makes its absence a failure, as in CI. */
const PLACES = [
  process.env['ISTHMUS_BROWSER'] ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const executablePath = PLACES.find((place) => place !== '' && existsSync(place));
const isRequired = process.env['ISTHMUS_BROWSER'] === 'required';

/** Tests that need a real browser. Where there is none they are skipped, and that is said. */
export function describeInBrowser(title: string, tests: () => void): void {
  if (executablePath !== undefined || isRequired) {
    describe(title, tests);
    return;
  }
  process.stderr.write(
    `\n!!! SKIPPED: "${title}" needs Chromium and there is none; apt-get install chromium, or set ISTHMUS_BROWSER to its path\n\n`,
  );
  describe.skip(`${title} (SKIPPED: there is no Chromium here)`, tests);
}

export async function launchBrowser(): Promise<Browser> {
  if (executablePath === undefined)
    throw new Error('There is no Chromium here, and ISTHMUS_BROWSER=required');
  return chromium.launch({ executablePath, headless: true, args: FLAGS });
}

/** Without a sandbox it runs as root, and the rest keeps it from talking to anybody. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
