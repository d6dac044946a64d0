import type { Dispatcher } from 'undici';
import { proxyFailure } from './failures.js';
import type { HttpSettings } from './options.js';

/** One HTTP request, as it is written. */
export interface HttpRequest {
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** The answer. Its body has not been read. */
export interface HttpAnswer {
  readonly status: number;
  header(name: string): string | undefined;
  /** All headers, for people. */
  headers(): readonly (readonly [name: string, value: string])[];
  readonly body: AsyncIterable<Uint8Array>;
  /** Releases a body that is not read. */
  discard(): void;
}

/** Sends one request. Follows no redirect and repeats nothing. */
export type Dispatch = (request: HttpRequest) => Promise<HttpAnswer>;

/** Sends over pools of undici, which is loaded here, and through the proxies that the environment names. */
export async function undiciDispatch(settings: HttpSettings): Promise<Dispatch> {
  const { Agent, ProxyAgent, request } = await import('undici');
  const options = {
    connect: { timeout: settings.connectTimeoutMs },
    // Calls have their own deadlines, and a stream may stay silent.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  let direct: Dispatcher | undefined;
  /** By address. The environment names at most three. */
  const proxied = new Map<string, Dispatcher>();
  const dispatcherOf = (proxy: NamedProxy | undefined): Dispatcher => {
    if (!proxy) {
      direct ??= new Agent(options);
      return direct;
    }
    const { address } = proxy;
    const agent = proxied.get(address) ?? new ProxyAgent({ ...options, uri: address });
    proxied.set(address, agent);
    return agent;
  };
  return async ({ url, ...rest }) => {
    const proxy = proxyOf(url, process.env);
    const { statusCode, headers, body } = await viaProxy(url, proxy, () =>
      request(url, { ...rest, dispatcher: dispatcherOf(proxy) }),
    );
    // An abandoned body ends with an error, which needs a listener.
    body.on('error', () => {});
    return {
      status: statusCode,
      header(name) {
        const value = headers[name];
        return Array.isArray(value) ? value.join(', ') : value;
      },
      headers: () => Object.entries(headers).map(([name, value]) => [name, String(value)]),
      body,
      // Reads a short rest to its end, so that the connection can be reused.
      discard: () => void body.dump({ limit: DUMP_BYTES }).catch(() => {}),
    };
  };
}

/** Reports a failure of the proxy as such, since the server may be healthy. */
async function viaProxy<T>(url: URL, proxy: NamedProxy | undefined, send: () => Promise<T>): Promise<T> {
  if (!proxy) return send();
  try {
    return await send();
  } catch (error) {
    const { variable } = proxy;
    throw proxyFailure(error, url.origin, { label: proxyLabel(proxy), variable }) ?? error;
  }
}

/** Sends with the caller's `fetch`. */
export function fetchDispatch(fetch: typeof globalThis.fetch): Dispatch {
  return async ({ url, ...rest }) => {
    const response = await fetch(url, { ...rest, redirect: 'manual' });
    return {
      status: response.status,
      header: (name) => response.headers.get(name) ?? undefined,
      headers: () => [...response.headers],
      body: (response.body as AsyncIterable<Uint8Array> | null) ?? NOTHING,
      discard: () => void response.body?.cancel().catch(() => {}),
    };
  };
}

const DUMP_BYTES = 16 * 1024;
const NOTHING: AsyncIterable<Uint8Array> = {
  async *[Symbol.asyncIterator]() {},
};

/** The proxy that the environment names for a URL, and the variable that names it. */
export interface NamedProxy {
  readonly variable: string;
  readonly address: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Follows curl: the variable of the scheme, else `ALL_PROXY`; lower case wins; `NO_PROXY` lists direct hosts. */
export function proxyOf(url: URL, env: Environment): NamedProxy | undefined {
  // `http_proxy` also counts for https, as in undici and others, for users who set only that.
  const names =
    url.protocol === 'https:' ? ['https_proxy', 'all_proxy', 'http_proxy'] : ['http_proxy', 'all_proxy'];
  for (const name of names) {
    for (const variable of [name, name.toUpperCase()]) {
      const address = env[variable];
      if (address) return goesDirect(url, env) ? undefined : { variable, address };
    }
  }
  return undefined;
}

/** For messages: without user and password. */
export function proxyLabel({ address, variable }: NamedProxy): string {
  const shown = URL.canParse(address)
    ? `${new URL(address).protocol}//${new URL(address).host}`
    : 'with an invalid URL';
  return `${shown} (${variable})`;
}

function goesDirect(url: URL, env: Environment): boolean {
  const entries = (env['no_proxy'] || env['NO_PROXY'] || '').split(/[,\s]/).filter((entry) => entry !== '');
  const host = url.hostname.toLowerCase();
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return entries.some((entry) => {
    if (entry === '*') return true;
    const colon = /^[^[\]]*:\d+$|\]:\d+$/.test(entry) ? entry.lastIndexOf(':') : entry.length;
    const name = entry
      .slice(0, colon)
      .toLowerCase()
      .replace(/^\*?\./, '');
    const wanted = entry.slice(colon + 1);
    return (wanted === '' || wanted === port) && (host === name || host.endsWith(`.${name}`));
  });
}

/** The answer as it is shown to people. A server may repeat the token that it refuses. */
export function withoutToken(answer: HttpAnswer, authorization: string | undefined): HttpAnswer {
  const token = authorization?.split(' ')[1];
  if (!token) return answer;
  const hide = (text: string) => text.replaceAll(token, '[hidden]');
  const { status, body } = answer;
  return {
    status,
    header(name) {
      const value = answer.header(name);
      return value === undefined ? undefined : hide(value);
    },
    headers: () => answer.headers().map(([name, value]) => [name, hide(value)]),
    body: (async function* () {
      const chunks: Uint8Array[] = [];
      let length = 0;
      for await (const chunk of body) {
        length += chunk.length;
        chunks.push(chunk);
        if (length > MAX_SHOWN_BYTES) break;
      }
      yield Buffer.from(hide(Buffer.concat(chunks).toString('latin1')), 'latin1');
    })(),
    discard: () => answer.discard(),
  };
}

const MAX_SHOWN_BYTES = 1024 * 1024;
