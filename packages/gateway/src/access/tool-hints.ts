import { LazyAbort } from '@isthmus/sdk/internal/async/abort.js';
import { type Clock, within } from '@isthmus/sdk/internal/async/clock.js';
import { ByPrincipal } from '@isthmus/sdk/internal/exchange/by-principal.js';
import type { Call, HandledResult, RequestFacts, Service } from '@isthmus/sdk/internal/exchange/call.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';

/** Which tools of a server say that they only read (`readOnlyHint`), as its lists had it. */
export class ToolHints {
  readonly #clock: Clock;
  readonly #readOnly = new Map<string, boolean>();
  /** Each caller has a process or a login of its own. */
  readonly isApart: boolean;
  readonly #readings = new ByPrincipal<Reading>(
    () => ({ under: undefined, nextAt: Number.NEGATIVE_INFINITY }),
    MAX_CALLERS,
  );

  /** `isApart`: each caller has a process or a login of its own. A caller whose list does not come must not hold up the others. */
  constructor(clock: Clock, isApart = false) {
    this.#clock = clock;
    this.isApart = isApart;
  }

  /** Undefined: no list had the tool. */
  isReadOnly(tool: string): boolean | undefined {
    return this.#readOnly.get(tool);
  }

  learn(list: JsonObject): void {
    const tools: unknown[] = Array.isArray(list['tools']) ? list['tools'] : [];
    for (const tool of tools) {
      if (!isJsonObject(tool) || typeof tool['name'] !== 'string') continue;
      const { annotations } = tool;
      if (this.#readOnly.size >= MAX_TOOLS) this.#readOnly.clear();
      this.#readOnly.set(tool['name'], isJsonObject(annotations) && annotations['readOnlyHint'] === true);
    }
  }

  /** Reads the lists of the server, unless that was done a moment ago. Settles within a bounded time, and never rejects. */
  async read(list: (params: JsonObject) => HandledResult, principal: string | undefined): Promise<void> {
    const reading = this.#readings.of(this.isApart ? principal : undefined);
    if (this.#clock.now() < reading.nextAt) return;
    reading.under ??= this.#readAll(list)
      .then(
        () => PAUSE_MS,
        () => RETRY_MS,
      )
      .then((pauseMs) => {
        reading.under = undefined;
        reading.nextAt = this.#clock.now() + pauseMs;
      });
    await within(this.#clock, PATIENCE_MS, reading.under);
  }

  async #readAll(list: (params: JsonObject) => HandledResult): Promise<void> {
    let cursor: unknown;
    for (let pages = 0; pages < MAX_PAGES; pages += 1) {
      const page = await (list(cursor === undefined ? {} : { cursor }) as Promise<JsonObject>);
      this.learn(page);
      cursor = page['nextCursor'];
      if (cursor === undefined) return;
    }
  }
}

interface Reading {
  under: Promise<unknown> | undefined;
  nextAt: number;
}

/** A list that the gateway wants for itself, on behalf of a caller: servers may have other tools for each. */
export function listFor(
  service: Service,
  principal: string | undefined,
  remote: string | undefined,
): (params: JsonObject) => HandledResult {
  return async (params) => {
    await service.ready?.({ method: 'tools/list', params }, principal);
    return service.handle(listCall({ principal, remote }, params)) as Promise<JsonObject>;
  };
}

/** For whom the gateway reads a list. */
export interface ListReader {
  readonly principal: string | undefined;
  readonly remote: string | undefined;
  /** The request that the list is read for. */
  readonly request?: RequestFacts | undefined;
}

/** A call of the gateway itself. Nothing that the server asks during it is answered. */
export function listCall(
  { principal, remote, request }: ListReader,
  params: JsonObject = {},
  abort = new LazyAbort(),
): Call {
  return {
    method: 'tools/list',
    params,
    peer: { era: 'modern', revision: '2026-07-28', info: undefined, capabilities: {}, principal, remote },
    request,
    get signal() {
      return abort.signal;
    },
    cancellation: abort,
    answers: undefined,
    state: undefined,
    logLevel: undefined,
    wantsProgress: false,
    progress() {},
    log() {},
    notify() {},
    ask: () => Promise.reject(new Error('The gateway answers no questions')),
  };
}

const MAX_TOOLS = 5000;
const MAX_CALLERS = 10_000;
const MAX_PAGES = 20;
const PAUSE_MS = 5000;
const RETRY_MS = 1000;
const PATIENCE_MS = 5000;
