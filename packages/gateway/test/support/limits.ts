import { createServer, jsonSchema, type ServeOptions, type Server, type Service, serve } from '@isthmus/sdk';
import { type HttpListenOptions, http } from '@isthmus/sdk/http';
import { onTestFinished } from 'vitest';
import { ask, modernCall, until } from '../../../sdk/test/support/http-server.js';
import type { LimitRefusal } from '../../src/limits/excess.js';
import { type LimitOptions, limitService, loadOf } from '../../src/limits/limit-service.js';

/** Whoever says a name is let in under it. */
export const byName = (request: { header(name: string): string | undefined }) => request.header('x-name');
export const as = (name: string) => ({ 'x-name': name });

/** A server whose calls end when the test says so. */
export interface Worker {
  readonly server: Server;
  /** Labels of the calls under way, in the order in which they began. */
  readonly begun: string[];
  /** Ends the call with this label, and waits until it has begun before that. */
  end(label: string): Promise<void>;
  /** From now on calls end when they begin. */
  endAll(): void;
}

export function createWorker(): Worker {
  const begun: string[] = [];
  let isOpen = false;
  const ending = new Map<string, () => void>();
  const server = createServer({ name: 'worker', version: '1' });
  const input = jsonSchema<{ label: string }>({
    type: 'object',
    properties: { label: { type: 'string' } },
    required: ['label'],
  });
  server.tool('work', { input }, async ({ label }, { signal }) => {
    begun.push(label);
    await new Promise<void>((resolve) => {
      if (isOpen) resolve();
      ending.set(label, resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    return `${label} done`;
  });
  server.tool('quick', {}, () => 'quick');
  return {
    server,
    begun,
    async end(label) {
      await until(`beginning of ${label}`, () => ending.has(label));
      ending.get(label)!();
    },
    endAll() {
      isOpen = true;
      for (const each of ending.values()) each();
    },
  };
}

/** Serves a service within limits, over HTTP, to whoever says a name or none at all. */
export async function serveLimited(
  service: Service,
  options: Partial<LimitOptions>,
  http_: HttpListenOptions = { authenticate: (request) => byName(request) ?? 'somebody' },
  serving: ServeOptions = {},
): Promise<Limited> {
  const refusals: LimitRefusal[] = [];
  const limited = limitService(service, {
    server: 'weather',
    onRefused: (refusal) => refusals.push(refusal),
    ...options,
  });
  const served = await serve(limited, http({ port: 0, ...http_ }), serving);
  onTestFinished(() => served.close({ graceMs: 0 }));
  return { url: served.addresses[0]!, limited, refusals, load: () => loadOf(limited)! };
}

export interface Limited {
  readonly url: string;
  readonly limited: Service;
  readonly refusals: readonly LimitRefusal[];
  load(): NonNullable<ReturnType<typeof loadOf>>;
}

/** What a modern call comes to: the text of its result, or how it was refused. */
export async function work(url: string, name: string, label: string): Promise<string | Refused> {
  const { status, headers, json } = await ask(
    url,
    modernCall(label, 'work', { label }, { headers: as(name) }),
  );
  if (json.error === undefined) return json.result?.content[0].text;
  const { message, data } = json.error;
  return { status, retryAfter: headers['retry-after'] as string | undefined, message, data };
}

export interface Refused {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly message: string;
  readonly data: unknown;
}
