import type { ApiFailure, Entered, RouteName, Routes } from '../../src/contract.js';

/** A request that the process refused. `code` is a word, and `hint` says what to do. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;
  readonly evidence: readonly string[];

  constructor(status: number, { error }: ApiFailure) {
    super(error.message);
    this.status = status;
    this.code = error.code;
    this.hint = error.hint;
    this.evidence = error.evidence ?? [];
  }
}

/** What a request takes besides its name. `path`: the values for the `:name` parts, in order. */
export interface Given<Name extends RouteName> {
  readonly path?: readonly (string | number)[];
  readonly query?: Routes[Name]['query'];
  readonly body?: Routes[Name]['body'];
  readonly signal?: AbortSignal;
}

/** Asks the process. */
export async function ask<Name extends RouteName>(
  name: Name,
  given: Given<Name>,
): Promise<Routes[Name]['answer']> {
  const response = await send(name, given);
  if (response.status === 204) return undefined as Routes[Name]['answer'];
  return (await response.json()) as Routes[Name]['answer'];
}

/** The same, with the answer as it is: for files and event streams. */
export async function send<Name extends RouteName>(name: Name, given: Given<Name>): Promise<Response> {
  const [method, path] = name.split(' ') as [string, string];
  const values = [...(given.path ?? [])];
  const filled = path.replace(/:\w+/g, () => encodeURIComponent(String(values.shift())));
  const query = new URLSearchParams(
    Object.entries(given.query ?? {})
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [key, String(value)]),
  );
  const key = sessionStorage.getItem(KEY);
  const response = await fetch(new URL(`api/${filled}${query.size > 0 ? `?${query}` : ''}`, PAGE), {
    method,
    headers: {
      ...(key !== null && { 'isthmus-key': key }),
      ...(given.body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(given.body !== undefined && { body: JSON.stringify(given.body) }),
    ...(given.signal && { signal: given.signal }),
    cache: 'no-store',
  });
  if (response.ok) return response;
  const failure = (await response.json().catch(() => undefined)) as ApiFailure | undefined;
  throw new ApiError(
    response.status,
    failure ?? { error: { code: 'UNKNOWN', message: `HTTP ${response.status}` } },
  );
}

/** Uses the link in the address, if there is one. It is removed from the address before anything else happens. */
export async function enter(): Promise<void> {
  const [, link] = /^#enter=([\w-]+)$/.exec(location.hash) ?? [];
  if (link === undefined) return;
  history.replaceState(null, '', location.pathname + location.search);
  keep(await ask('POST enter', { body: { link } }));
}

/** Uses the key or the token of an operator. It is sent once, in a body, and not kept. */
export async function enterWith(secret: string): Promise<void> {
  const isToken = /^[\w-]+\.[\w-]+\.[\w-]+$/.test(secret);
  keep(await ask('POST enter', { body: isToken ? { jwt: secret } : { apiKey: secret } }));
}

/** Other tabs that have none get it, too. */
function keep({ key }: Entered): void {
  sessionStorage.setItem(KEY, key);
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage({ key });
  channel.close();
}

export function forgetKey(): void {
  sessionStorage.removeItem(KEY);
}

/**
 * A second tab gets the key of the first, so that links open in new tabs. Other origins cannot hear this. `onKey`: this tab
 * had none, and another one has entered.
 */
export function shareKey(onKey: () => void): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }: MessageEvent<unknown>) => {
    const own = sessionStorage.getItem(KEY);
    if (data === 'ask' && own !== null) channel.postMessage({ key: own });
    const key = keyIn(data);
    if (key === undefined || own !== null) return;
    sessionStorage.setItem(KEY, key);
    onKey();
  };
}

function keyIn(data: unknown): string | undefined {
  const { key } = (data ?? {}) as { readonly key?: unknown };
  return typeof key === 'string' ? key : undefined;
}

/** Asks the other tabs for their key. Settles after a moment when there is none. */
export function borrowKey(): Promise<void> {
  return new Promise((resolve) => {
    const channel = new BroadcastChannel(CHANNEL);
    const done = () => {
      channel.close();
      resolve();
    };
    channel.onmessage = ({ data }: MessageEvent<unknown>) => {
      const key = keyIn(data);
      if (key === undefined) return;
      sessionStorage.setItem(KEY, key);
      done();
    };
    channel.postMessage('ask');
    setTimeout(done, 250);
  });
}

export function hasKey(): boolean {
  return sessionStorage.getItem(KEY) !== null;
}

const KEY = 'isthmus-key';
const CHANNEL = 'isthmus-key';
const PAGE = new URL('./', location.href);
