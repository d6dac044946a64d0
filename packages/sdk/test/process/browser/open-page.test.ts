/** AUTH-C-058, AUTH-C-059: which program opens a page, that no shell does, and when none is opened. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../../../test/support/until.js';
import {
  type DesktopFacts,
  openPage,
  pagePrograms,
  whyNoBrowser,
} from '../../../src/process/browser/open-page.js';

const LINUX: DesktopFacts = { platform: 'linux', env: { DISPLAY: ':0' }, isWsl: false, isContainer: false };
const PAGE = new URL('https://login.example/authorize?a=1&b=$(id)%20`id`');

describe('where a browser is opened', () => {
  it.each<[string, Partial<DesktopFacts>, string | undefined]>([
    ['a desktop', {}, undefined],
    ['a desktop with Wayland', { env: { WAYLAND_DISPLAY: 'wayland-0' } }, undefined],
    ['Linux without a display', { env: {} }, 'there is no display'],
    ['SSH', { env: { DISPLAY: ':0', SSH_CONNECTION: '1 2 3 4' } }, 'this is an SSH session'],
    ['SSH on macOS', { platform: 'darwin', env: { SSH_TTY: '/dev/ttys001' } }, 'this is an SSH session'],
    ['a container', { isContainer: true }, 'this is a container'],
    ['Codespaces', { env: { CODESPACES: 'true' } }, 'this is a container'],
    ['macOS', { platform: 'darwin', env: {} }, undefined],
    ['Windows', { platform: 'win32', env: {} }, undefined],
    ['WSL', { isWsl: true, env: {} }, undefined],
    ['BROWSER in an SSH session', { env: { SSH_CONNECTION: '1', BROWSER: '/bin/b' } }, undefined],
    ['BROWSER that is a command line', { env: { BROWSER: 'sh -c "x %s"' } }, 'there is no display'],
  ])('%s', (_, facts, why) => {
    expect(whyNoBrowser({ ...LINUX, ...facts })).toBe(why);
  });
});

describe('the program', () => {
  const handler = ['url.dll,FileProtocolHandler', PAGE.href];

  it.each<[string, Partial<DesktopFacts>, readonly (readonly string[])[]]>([
    [
      'Linux',
      {},
      [
        ['xdg-open', PAGE.href],
        ['gio', 'open', PAGE.href],
      ],
    ],
    ['macOS', { platform: 'darwin', env: {} }, [['/usr/bin/open', PAGE.href]]],
    [
      'WSL',
      { isWsl: true },
      [
        ['/mnt/c/Windows/System32/rundll32.exe', ...handler],
        ['xdg-open', PAGE.href],
        ['gio', 'open', PAGE.href],
      ],
    ],
    [
      'BROWSER',
      { platform: 'darwin', env: { BROWSER: '/bin/b' } },
      [
        ['/bin/b', PAGE.href],
        ['/usr/bin/open', PAGE.href],
      ],
    ],
  ])('of %s gets the URL as one argument', (_, facts, programs) => {
    const found = pagePrograms(PAGE, { ...LINUX, ...facts }).map(({ file, args }) => [file, ...args]);
    expect(found).toEqual(programs);
  });

  it('of Windows is not a shell', () => {
    const [program] = pagePrograms(PAGE, { ...LINUX, platform: 'win32', env: { SystemRoot: 'C:\\Windows' } });
    expect([program!.file.replaceAll('/', '\\'), program!.args]).toEqual([
      'C:\\Windows\\System32\\rundll32.exe',
      handler,
    ]);
  });

  it('is started without a shell: nothing of the URL is run', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'isthmus-browser-'));
    const [browser, seen] = [join(folder, 'browser.mjs'), join(folder, 'seen')];
    const program = `#!${process.execPath}\nimport { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(seen)}, JSON.stringify(process.argv.slice(2)));\n`;
    writeFileSync(browser, program);
    chmodSync(browser, 0o755);
    const page = new URL(`https://login.example/?x=;touch%20${folder}/run;$(touch ${folder}/run)`);
    expect(await openPage(page, { ...LINUX, env: { BROWSER: browser } })).toBe(true);
    await eventually(() => expect(JSON.parse(readFileSync(seen, 'utf8'))).toEqual([page.href]));
    expect(existsSync(join(folder, 'run'))).toBe(false);
  });

  it.each(['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'vbscript:x', 'ms-settings:x'])(
    'is not started for %s',
    async (text) => {
      expect(await openPage(new URL(text), { ...LINUX, env: { BROWSER: '/bin/true' } })).toBe(false);
    },
  );
});
