import type { Recorder } from './record.js';

/**
 * The browser of a run: opens a page and follows its redirects, as the browser of a user does. It asks only this
 * machine. What comes of it is seen by the servers.
 */
export async function browse(url: string, record: Recorder): Promise<void> {
  record({ kind: 'opened', life: 0, url });
  let next: string | undefined = url;
  for (let hops = 0; next !== undefined && hops < MOST_HOPS; hops += 1) next = await visit(next);
}

const MOST_HOPS = 10;
const PAGE_MS = 30_000;

/** Returns where the page leads to. */
async function visit(page: string): Promise<string | undefined> {
  if (!URL.canParse(page) || !isHere(new URL(page))) return undefined;
  try {
    const response = await fetch(page, { redirect: 'manual', signal: AbortSignal.timeout(PAGE_MS) });
    await response.body?.cancel();
    const location = response.headers.get('location');
    return location === null ? undefined : new URL(location, page).href;
  } catch {
    // Nothing listens there any more.
    return undefined;
  }
}

function isHere({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
}
