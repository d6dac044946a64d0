import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';

/** The system that a page is opened on. */
export interface DesktopFacts {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Linux runs in Windows. */
  readonly isWsl: boolean;
  readonly isContainer: boolean;
}

/** A program that opens a page. The URL is one of its arguments. */
export interface PageProgram {
  readonly file: string;
  readonly args: readonly string[];
}

export function desktopFacts(): DesktopFacts {
  const { platform, env } = process;
  const isWsl = platform === 'linux' && /microsoft/i.test(release());
  const isContainer = ['/.dockerenv', '/run/.containerenv'].some((file) => existsSync(file));
  return { platform, env, isWsl, isContainer };
}

/** Why a browser on this machine cannot be opened. Undefined: it can. A `BROWSER` of the environment is always used. */
export function whyNoBrowser({ platform, env, isWsl, isContainer }: DesktopFacts): string | undefined {
  if (browserOf(env) !== undefined) return undefined;
  if (env['SSH_CONNECTION'] || env['SSH_TTY']) return 'this is an SSH session';
  if (isContainer || env['CODESPACES'] || env['REMOTE_CONTAINERS']) return 'this is a container';
  const hasDisplay = Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY']);
  if (platform !== 'darwin' && platform !== 'win32' && !isWsl && !hasDisplay) return 'there is no display';
  return undefined;
}

/** The programs to try, in order. */
export function pagePrograms(url: URL, { platform, env, isWsl }: DesktopFacts): readonly PageProgram[] {
  const { href } = url;
  const own = browserOf(env);
  const chosen = own === undefined ? [] : [{ file: own, args: [href] }];
  if (platform === 'darwin') return [...chosen, { file: '/usr/bin/open', args: [href] }];
  const handler = ['url.dll,FileProtocolHandler', href];
  if (platform === 'win32') {
    const folder = env['SystemRoot'] ?? 'C:\\Windows';
    return [...chosen, { file: join(folder, 'System32', 'rundll32.exe'), args: handler }];
  }
  const windows = { file: '/mnt/c/Windows/System32/rundll32.exe', args: handler };
  return [
    ...chosen,
    ...(isWsl ? [windows] : []),
    { file: 'xdg-open', args: [href] },
    { file: 'gio', args: ['open', href] },
  ];
}

/** `BROWSER` may be a command line. Only one word is used, since no shell may see a URL. */
function browserOf(env: DesktopFacts['env']): string | undefined {
  const text = env['BROWSER'];
  return text !== undefined && /^[^\s%]+$/.test(text) ? text : undefined;
}

/** Opens a page in the browser of the user, without a shell. False: no program could be started. */
export async function openPage(url: URL, facts: DesktopFacts = desktopFacts()): Promise<boolean> {
  // The metadata of a server names this URL. A program of the system must not get anything but a web page.
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return false;
  return startFirst(pagePrograms(url, facts));
}

/** Starts the first of these programs that can be started. False: none can. */
export async function startFirst(programs: readonly PageProgram[]): Promise<boolean> {
  for (const program of programs) if (await start(program)) return true;
  return false;
}

function start({ file, args }: PageProgram): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(file, [...args], { shell: false, stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
