import { lookup } from 'node:dns';
import type { Dispatcher } from 'undici';
import { IsthmusError, messageOf } from '../../errors.js';
import { proxyOf } from '../../transport/http-client/dispatch.js';
import { reachReasonOf } from '../../transport/http-client/failures.js';
import { type AddressRule, isLoopbackHost } from './addresses.js';

/** One HTTP request of a login. */
export interface OAuthRequest {
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** How many redirects may be followed. Default 0: nothing that has a secret in its body is redirected. */
  readonly redirects?: number;
  /** Default 256 KiB. */
  readonly maxBytes?: number;
  /** The body is not read. It may be a stream without end. */
  readonly headersOnly?: boolean;
}

/** Sends the requests of logins: with a time limit, a size limit, and only to addresses that the rule allows. */
export interface OAuthHttp {
  send(url: URL, request: OAuthRequest): Promise<Response>;
}

export interface OAuthHttpOptions {
  readonly rule: AddressRule;
  /** Sends the requests in the place of undici. Names are not checked after their resolution then. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  readonly timeoutMs?: number;
}

export function createOAuthHttp({ rule, fetch, timeoutMs = TIMEOUT_MS }: OAuthHttpOptions): OAuthHttp {
  let sending: Promise<Send> | undefined;
  return {
    async send(url, request) {
      sending ??= fetch ? Promise.resolve(fetch as Send) : undiciSend(rule);
      const send = await sending;
      const signal = AbortSignal.timeout(timeoutMs);
      let target = url;
      for (let left = request.redirects ?? 0; ; left -= 1) {
        const refused = rule.refuses(target);
        if (refused) throw failed(url, `${refused}, which is refused`);
        const { method, headers = {}, body } = request;
        const response = await send(target, { method, headers, body, redirect: 'manual', signal }).catch(
          (error: unknown) => {
            const why = reasonOf(error, signal, timeoutMs);
            throw isRefusedAddress(error) ? failed(url, why) : away(url, why);
          },
        );
        const location = response.status >= 300 && response.status < 400 && response.headers.get('location');
        if (!location && !request.headersOnly)
          return readAtMost(url, response, request.maxBytes ?? MAX_BYTES);
        await response.body?.cancel().catch(() => {});
        if (!location) return response;
        if (left <= 0) throw failed(url, 'it redirects, which is not followed');
        if (!URL.canParse(location, target.href))
          throw failed(url, 'it redirects to something that is not a URL');
        target = new URL(location, target);
      }
    },
  };
}

/** A failure that says nothing about the login: the same request may work later. */
export class OAuthUnreachable extends Error {
  override readonly name = 'OAuthUnreachable';
  /** How long the server wants to be left alone, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfterMs?: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

type Send = (
  url: URL,
  init: {
    method: string;
    headers: Readonly<Record<string, string>>;
    body: string | undefined;
    redirect: 'manual';
    signal: AbortSignal;
  },
) => Promise<Response>;

/** Checks every address that a name is resolved to, and connects to what was checked. */
async function undiciSend(rule: AddressRule): Promise<Send> {
  const { Agent, ProxyAgent, fetch } = await import('undici');
  const checkedLookup: typeof lookup = ((hostname: string, options: object, done: LookupDone) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return done(error, '', 4);
      const refused = found.map(({ address }) => rule.refusesAddress(hostname, address)).find(Boolean);
      if (refused) return done(new AddressRefused(`${refused}, which is refused`), '', 4);
      if ((options as { all?: boolean }).all) return done(null, found);
      return done(null, found[0]!.address, found[0]!.family);
    });
  }) as typeof lookup;
  const direct = new Agent({ connect: { lookup: checkedLookup } });
  /** By address. The environment names at most three. */
  const proxied = new Map<string, Dispatcher>();
  const dispatcherFor = (url: URL): Dispatcher => {
    // Hosts of `NO_PROXY` are reached directly, so their addresses are checked.
    const proxy = isLoopbackHost(url.hostname) ? undefined : proxyOf(url, process.env);
    if (!proxy) return direct;
    // A proxy resolves names itself, so only literal addresses are checked then.
    const agent = proxied.get(proxy.address) ?? new ProxyAgent(proxy.address);
    proxied.set(proxy.address, agent);
    return agent;
  };
  return (url, init) =>
    fetch(url, { ...init, dispatcher: dispatcherFor(url) }) as unknown as Promise<Response>;
}

type LookupDone = (error: Error | null, address: unknown, family?: number) => void;

/** Reads the body to its end. Bodies of logins are short. */
async function readAtMost(url: URL, response: Response, maxBytes: number): Promise<Response> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      length += chunk.length;
      if (length > maxBytes) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw away(url, `its answer ended early: ${messageOf(error)}`);
  }
  if (length > maxBytes) throw failed(url, `its answer is longer than ${maxBytes} bytes`);
  const { status, headers } = response;
  const body = status === 204 || status === 205 || status === 304 ? null : Buffer.concat(chunks);
  return new Response(body, { status: status < 200 ? 502 : status, headers });
}

function reasonOf(error: unknown, signal: AbortSignal, timeoutMs: number): string {
  if (signal.aborted) return `no answer within ${timeoutMs} ms`;
  return reachReasonOf(error);
}

/** The name leads to an address that the rule does not allow. */
class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

function isRefusedAddress(error: unknown): boolean {
  return (Object(error) as { cause?: unknown }).cause instanceof AddressRefused;
}

function failed(url: URL, why: string): IsthmusError {
  return unusable(`${url.origin}${url.pathname} cannot be used for the login: ${why}`);
}

function away(url: URL, why: string): IsthmusError {
  return unreachable(`${url.origin}${url.pathname} cannot be reached for the login: ${why}`);
}

/** The failure of the network or of a server that is down. Undefined for a refusal. */
export function outageOf(error: unknown): OAuthUnreachable | undefined {
  return error instanceof IsthmusError && error.cause instanceof OAuthUnreachable ? error.cause : undefined;
}

/** There is an answer, or an address, that must not be used. Another one may come later. */
export function unusable(message: string): IsthmusError {
  const cause = new OAuthUnreachable(message);
  return new IsthmusError('UNAUTHORIZED', message, { sent: 'no', cause });
}

/** There is no answer, or only that of a server that is down. */
export function unreachable(message: string, retryAfterMs?: number): IsthmusError {
  const cause = new OAuthUnreachable(message, retryAfterMs);
  return new IsthmusError('ADDRESS_UNAVAILABLE', message, { sent: 'no', cause });
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 256 * 1024;
