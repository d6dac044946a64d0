import { expect } from 'vitest';
import { eventually } from '../../support/until.js';
import type { Session, ToolResult } from '../clients/session.js';

/** The columns of the matrix. */
export const FEATURES = [
  'list',
  'call',
  'progress',
  'cancel',
  'elicit',
  'sample',
  'roots',
  'log',
  'complete',
  'read',
  'subscribe',
  'list change',
  'error',
  'outside calls',
] as const;

export type Feature = (typeof FEATURES)[number];

/** How each feature is tried with a server of one kind, or in words why the server has none of it. */
export type Plays = Readonly<Record<Feature, ((session: Session) => Promise<void>) | string>>;

/** What is to be seen within the time that a busy machine may take. */
export function soon<T>(check: () => T | Promise<T>): Promise<T> {
  return eventually(check);
}

/** What the text of a result says. */
export function textOf({ content }: ToolResult): string {
  return content.map(({ text }) => text ?? '').join('\n');
}

/** What was told by a method since `start`. */
export function told(session: Session, method: string, start = 0): unknown[] {
  return session.notifications
    .slice(start)
    .filter((one) => one.method === method)
    .map(({ params }) => params);
}

/** A call that is taken back as soon as it reports. */
export async function callAndCancel(session: Session, tool: string, args: object): Promise<void> {
  const abort = new AbortController();
  const limit = setTimeout(() => abort.abort('it never reported'), 4000);
  let reported = false;
  const call = session.call(
    tool,
    { ...args },
    {
      signal: abort.signal,
      onprogress: () => {
        reported = true;
        abort.abort('enough');
      },
    },
  );
  await expect(call).rejects.toThrow();
  clearTimeout(limit);
  expect(reported, 'it reported before it was cancelled').toBe(true);
}
