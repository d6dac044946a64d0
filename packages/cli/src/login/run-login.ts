import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { LoginStatus } from '@isthmus/sdk/internal/oauth/login-status.js';
import { oauth } from '@isthmus/sdk/internal/oauth/oauth.js';
import type { DeviceCode } from '@isthmus/sdk/internal/oauth/options.js';
import { userLoginStore } from '@isthmus/sdk/internal/oauth/store/user-logins.js';
import { desktopFacts, openPage, whyNoBrowser } from '@isthmus/sdk/internal/process/browser/open-page.js';
import { oneLine } from '../terminal/text.js';
import type { AuthFlags } from './auth-options.js';
import { type LoginFlags, toOAuthOptions } from './login-options.js';

/** Where the user of a login is. */
export interface LoginPlace {
  say(line: string): void;
  /** Where the user can paste the address that the browser ended at. Undefined: stdin belongs to a protocol. */
  readonly input: (Readable & { readonly isTTY?: boolean }) | undefined;
}

/** Logs in to a server. The page is always printed, and opened in a browser where there is one. */
export async function runLogin(
  url: string,
  flags: AuthFlags & LoginFlags,
  { say, input }: LoginPlace,
): Promise<LoginStatus> {
  const facts = desktopFacts();
  const why = flags.browser === false ? '--no-browser was given' : whyNoBrowser(facts);
  const isElsewhere = why !== undefined || flags.callbackUrl !== undefined;
  // A person at a terminal may paste in any case. A pipe is read only when there is no other way.
  const canPaste = input !== undefined && (isElsewhere || input.isTTY === true);
  const options = toOAuthOptions(flags);
  const auth = oauth({
    ...options,
    store: userLoginStore(),
    onWarning: (warning) => say(`warning: ${oneLine(warning)}`),
    async open(page) {
      say(`Log in on this page: ${page.href}`);
      say(`Then the browser comes back to ${page.searchParams.get('redirect_uri')}`);
      const isOpen = why === undefined && (await openPage(page, facts));
      if (!isOpen) say(`No browser is opened here: ${why ?? 'no program for it was found'}`);
      if (canPaste && (!isOpen || isElsewhere)) say(PASTE);
    },
    ask: {
      ...(canPaste && { callback: (_: URL, signal: AbortSignal) => readPasted(input, say, signal) }),
      ...(input?.isTTY && { trustIssuer: (issuer: string) => askIssuer(issuer, input) }),
      showCode: (code: DeviceCode) => {
        say(`Open this page on any device: ${(code.pageWithCode ?? code.page).href}`);
        say(`Enter this code: ${oneLine(code.userCode)}`);
      },
    },
  });
  return (await auth.login(url)).login();
}

const PASTE =
  'If the browser is on another machine, paste the address that it ends at here, also when the page cannot be shown:';

/** The first line that looks like the address of a response. The end of the input is not an answer. */
function readPasted(input: Readable, say: LoginPlace['say'], signal: AbortSignal): Promise<string> {
  // Without terminal mode, so that Ctrl-C stays a signal.
  const lines = createInterface({ input, terminal: false });
  signal.addEventListener('abort', () => lines.close(), { once: true });
  return new Promise((resolve) => {
    lines.on('line', (line) => {
      if (/[?&]?state=/.test(line)) resolve(line);
      else if (line.trim() !== '') say('That is not the address that the browser ended at: it has no state');
    });
  });
}

function askIssuer(issuer: string, input: Readable): Promise<boolean> {
  const lines = createInterface({ input, output: process.stderr, terminal: false });
  return new Promise((resolve) => {
    lines.once('close', () => resolve(false));
    lines.question(`Send the client secret to ${oneLine(issuer)}? [y/N] `, (answer) => {
      resolve(/^y(es)?$/i.test(answer.trim()));
      lines.close();
    });
  });
}
