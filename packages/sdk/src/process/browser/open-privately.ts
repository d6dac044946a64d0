import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type DesktopFacts, desktopFacts, openPage, pagePrograms, startFirst } from './open-page.js';

/** A page that was opened. */
export interface OpenedPage {
  /** Whether a program could be started. */
  readonly isOpen: boolean;
  /** Removes what was needed to open it. Call it when the page has loaded, or will not load any more. */
  forget(): Promise<void>;
}

/**
 * Opens a page whose address is a secret. Every user of the machine can read the arguments of programs, so the browser gets
 * the path of a file that only this user can read, and the file leads to the page.
 */
export async function openPrivately(url: URL, facts: DesktopFacts = desktopFacts()): Promise<OpenedPage> {
  // A browser of Windows cannot read a file of the Linux inside of it.
  if (facts.isWsl) return { isOpen: await openPage(url, facts), forget: async () => {} };
  const folder = await mkdtemp(join(tmpdir(), 'isthmus-open-'));
  const file = join(folder, 'open.html');
  await writeFile(file, redirectTo(url), { mode: 0o600 });
  return {
    isOpen: await startFirst(pagePrograms(pathToFileURL(file), facts)),
    forget: () => rm(folder, { recursive: true, force: true }),
  };
}

function redirectTo({ href }: URL): string {
  const address = href.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  return `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${address}"><title>Isthmus</title><a href="${address}">Open the console</a>\n`;
}
