import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type {
  LoginEvent,
  LoginManager,
  LoginRequest,
} from '@isthmus/gateway/internal/logins/login-manager.js';
import type { UrlAuth } from '@isthmus/sdk/internal/config/server-spec.js';
import { messageOf } from '@isthmus/sdk/internal/errors.js';
import { loginCommand } from '@isthmus/sdk/internal/host/spec-connector.js';
import type { LoginStatus } from '@isthmus/sdk/internal/oauth/login-status.js';
import { desktopFacts, openPage, whyNoBrowser } from '@isthmus/sdk/internal/process/browser/open-page.js';
import { CliError, EXIT } from '../cli-error.js';
import { oneLine } from '../terminal/text.js';
import type { AuthFlags } from './auth-options.js';
import { type LoginFlags, toOAuthOptions } from './login-options.js';

/** Where the user of a login is. */
export interface LoginPlace {
  say(line: string): void;
  /** Where the user can paste the address that the browser ended at. Undefined: stdin belongs to a protocol. */
  readonly input: (Readable & { readonly isTTY?: boolean }) | undefined;
  readonly logins: LoginManager;
  /** A login that is stored is enough, and a server that wants none is left alone. */
  readonly onlyIfNeeded?: boolean;
  /** The login goes on when this process is gone. */
  readonly keep?: boolean;
  /** What the file of the server says about the login. Options of the command line win. */
  readonly configured?: Omit<UrlAuth, 'mode'>;
}

/** Logs in to a server. The page is always printed, and opened in a browser where there is one. */
export async function runLogin(
  url: string,
  flags: AuthFlags & LoginFlags,
  place: LoginPlace,
): Promise<LoginStatus> {
  const { onlyIfNeeded = false, keep = false, input, logins, configured } = place;
  const why = flags.browser === false ? '--no-browser was given' : whyNoBrowser(desktopFacts());
  const request: LoginRequest = {
    ...{ url, options: { ...configured, ...toOAuthOptions(flags) } },
    ...{ onlyIfNeeded, keep, canOpen: why === undefined },
  };
  let last = await follow(request, flags, place, why);
  if (last.kind === 'failed' && last.untrustedIssuer !== undefined && input?.isTTY) {
    const trustedIssuer = last.untrustedIssuer;
    if (await askIssuer(trustedIssuer, input))
      last = await follow({ ...request, trustedIssuer }, flags, place, why);
  }
  if (last.kind === 'done') return last.status;
  const { code, message, isAway } = last;
  if (code === 'INVALID_OPTION') throw new CliError(EXIT.usage, message);
  if (isAway) {
    const hint = 'Is the address right, and the network there? The login did not change anything';
    throw new CliError(EXIT.cannotConnect, message, { hint });
  }
  throw new CliError(EXIT.needsLogin, message, last.isLate ? { hint: lateHint(flags) } : {});

  /** Settles with the last event. */
  async function follow(
    wanted: LoginRequest,
    { callbackUrl }: LoginFlags,
    { say }: LoginPlace,
    whyNot: string | undefined,
  ): Promise<Extract<LoginEvent, { kind: 'done' | 'failed' }>> {
    const over = new AbortController();
    const isElsewhere = whyNot !== undefined || callbackUrl !== undefined;
    // A person at a terminal may paste in any case. A pipe is read only when there is no other way.
    const canPaste = input !== undefined && (isElsewhere || input.isTTY === true);
    try {
      for await (const event of logins.begin(wanted, over.signal)) {
        switch (event.kind) {
          case 'done':
          case 'failed':
            return event;
          case 'warning':
            say(`warning: ${oneLine(event.text)}`);
            break;
          case 'code':
            say(`Open this page on any device: ${event.page}`);
            say(`Enter this code there, or check that the page shows it: ${oneLine(event.userCode)}`);
            break;
          case 'page': {
            const page = new URL(event.page);
            say(`Log in on this page: ${page.href}`);
            say(`Then the browser comes back to ${page.searchParams.get('redirect_uri')}`);
            const isOpen = event.mayOpen && (await openPage(page));
            if (isOpen) await logins.opened(url);
            else say(`No browser is opened here: ${whyNot ?? (event.mayOpen ? NO_PROGRAM : ELSEWHERE)}`);
            if (canPaste && (!isOpen || isElsewhere)) say(PASTE);
            else if (!isOpen && keep)
              say(
                `If the browser is on another machine: ${loginCommand(url)}, in a terminal here, takes the address that it ends at`,
              );
            if (canPaste) readPasted(input, over.signal, say, (line) => logins.finish(url, line));
          }
        }
      }
    } finally {
      over.abort();
    }
    throw new CliError(EXIT.needsLogin, 'The daemon ended while the login was under way', {
      hint: `isthmus login ${url} begins it again`,
    });
  }
}

/** An authorization server that does not know the client shows a page, and the browser does not come back. */
function lateHint({ clientId }: AuthFlags): string {
  return clientId === undefined
    ? 'If the page said that the client is unknown, or that its redirect URI is: --register registers a new client'
    : 'If the page said that the client is unknown, or that its redirect URI is: check --client-id, --callback-port, --callback-host and --callback-path';
}

const NO_PROGRAM = 'no program for it was found';
const ELSEWHERE = 'another process has opened it';
const PASTE =
  'If the browser is on another machine, paste the address that it ends at here, also when the page cannot be shown:';

/** Each line that looks like the address of a response is tried. The end of the input is not an answer. */
function readPasted(
  input: Readable,
  signal: AbortSignal,
  say: LoginPlace['say'],
  take: (line: string) => Promise<void>,
): void {
  // Without terminal mode, so that Ctrl-C stays a signal.
  const lines = createInterface({ input, terminal: false });
  signal.addEventListener('abort', () => lines.close(), { once: true });
  lines.on('line', (line) => {
    if (/[?&]?state=/.test(line)) {
      take(line).catch((error: unknown) => say(`That address does not fit: ${oneLine(messageOf(error))}`));
    } else if (line.trim() !== '') say('That is not the address that the browser ended at: it has no state');
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
