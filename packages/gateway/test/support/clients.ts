import { type Client, type ConnectOptions, connect } from '@isthmus/sdk/client';
import { http } from '@isthmus/sdk/http';
import { onTestFinished } from 'vitest';
import { CLIENTS } from '../../../../test/bridge-matrix/clients/index.js';
import type { Session } from '../../../../test/bridge-matrix/clients/session.js';

export type Era = 'legacy' | 'modern';
export const ERAS: readonly Era[] = ['legacy', 'modern'];

/** Our own client, of one era. Closed when the test ends. */
export async function client(
  url: string,
  era: Era = 'modern',
  options: ConnectOptions = {},
): Promise<Client> {
  const connected = await connect(http(url), { mode: era, cache: false, ...options });
  onTestFinished(() => connected.close());
  return connected;
}

export type Official = 'v1' | 'v2-modern' | 'v2-legacy' | 'v2-auto';

/** An official client. Closed when the test ends. */
export async function official(kind: Official, url: string): Promise<Session> {
  const found = CLIENTS.find(({ name }) => name === kind)!;
  const session = await found.connect({ url }, {});
  onTestFinished(() => session.close());
  return session;
}
