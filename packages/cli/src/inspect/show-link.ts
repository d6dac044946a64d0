import { hostname } from 'node:os';
import { desktopFacts, whyNoBrowser } from '@isthmus/sdk/internal/process/browser/open-page.js';
import { type OpenedPage, openPrivately } from '@isthmus/sdk/internal/process/browser/open-privately.js';
import type { Terminal } from '../terminal/terminal.js';

export interface ShownLink {
  /** What the page is about. */
  readonly what: string;
  /** False: no browser is opened. */
  readonly open: boolean;
  readonly json?: boolean | undefined;
  /** False: another process has the page, and Ctrl-C here does not end it. Default true. */
  readonly isOurs?: boolean;
}

/** Prints a link to a console, and opens it where there is a browser. */
export async function showLink(
  link: string,
  { what, open, json, isOurs = true }: ShownLink,
  { stdout, stderr, err }: Terminal,
): Promise<OpenedPage> {
  const facts = desktopFacts();
  if (json) stdout.write(`${JSON.stringify({ url: link, pid: process.pid })}\n`);
  else stdout.write(`${link}\n`);
  const { port, hostname: host } = new URL(link);
  const say = (line: string) => stderr.write(`isthmus: ${line}\n`);
  const end = isOurs ? '; Ctrl-C ends it' : '';
  if (!json) say(`the console of ${err.bold(what)}; the link works once, within 60 s${end}`);
  if (facts.env['SSH_CONNECTION'] && !json)
    say(`from the other machine: ssh -L ${port}:${host}:${port} ${hostname()}`);
  const why = open ? whyNoBrowser(facts) : '--no-open was given';
  if (why !== undefined) return { isOpen: false, forget: async () => {} };
  const opened = await openPrivately(new URL(link), facts);
  if (!opened.isOpen) say('no program that opens a browser was found: open the link yourself');
  return opened;
}
