import type { CheckContext } from '../../../run/check-context.js';
import { type Answer, ask } from './answer.js';
import { modernRequest } from './requests.js';
import { openSession } from './session.js';

/** Carries bodies to the server in POSTs that are right otherwise: with modern headers, or in a session. */
export interface Courier {
  /** Of an ordinary request. */
  readonly body: Readonly<Record<string, unknown>>;
  post(body: unknown, headers?: Readonly<Record<string, string | undefined>>): Promise<Answer>;
}

/** One courier for all bodies of a check: to some servers a session is a process. */
export async function openCourier(table: CheckContext): Promise<Courier> {
  if (table.era === 'legacy') {
    const { headers } = await openSession(table);
    return { body: { jsonrpc: '2.0', id: 2, method: 'ping' }, post: postWith(table, headers) };
  }
  const { body, headers } = modernRequest(table);
  return { body, post: postWith(table, headers) };
}

function postWith(table: CheckContext, usual: Readonly<Record<string, string>>): Courier['post'] {
  return (body, headers) => ask(table, table.openHttp(), { body, headers: { ...usual, ...headers } });
}
