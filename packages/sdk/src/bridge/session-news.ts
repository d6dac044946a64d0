import type { Clock } from '../async/clock.js';
import type { ReconnectingCaller } from '../client/reconnecting-caller.js';
import type { Changes, Wanted } from '../client/subscriptions.js';
import { ProtocolError } from '../errors.js';
import type { Change } from '../exchange/call.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject } from '../wire/json-rpc.js';
import type { ServerCapabilities } from '../wire/model.js';

/**
 * What a legacy session hears of: changes of lists, which it need not ask for, and resources that it subscribes
 * to one by one. On the far side this is one subscription; with each change of it the new one is confirmed before
 * the old one ends, so that nothing is missed.
 */
export class SessionNews {
  readonly #session: ReconnectingCaller;
  readonly #clock: Clock;
  readonly #capabilities: () => ServerCapabilities;
  readonly #onChange: (change: Change) => void;
  readonly #uris = new Set<string>();
  #open: Changes | undefined;
  /** One change after the other. */
  #changing: Promise<void> = Promise.resolve();
  #ended = false;
  #callOff: (() => void) | undefined;

  constructor(
    session: ReconnectingCaller,
    clock: Clock,
    capabilities: () => ServerCapabilities,
    onChange: (change: Change) => void,
  ) {
    this.#session = session;
    this.#clock = clock;
    this.#capabilities = capabilities;
    this.#onChange = onChange;
  }

  /** The client accepts notifications of changed lists. */
  begin(tries = 0): void {
    if (!isAnything(this.#wanted())) return;
    this.#change(() => this.#swap()).catch(() => {
      // No call waits for it, and none would ask again.
      if (this.#ended) return;
      const delay = Math.min(RETRY_MS * 2 ** tries, MAX_RETRY_MS);
      this.#callOff = this.#clock.after(delay, () => this.begin(tries + 1), { background: true });
    });
  }

  subscribe(uri: string): Promise<void> {
    return this.#change(async () => {
      if (this.#uris.has(uri)) return;
      this.#uris.add(uri);
      try {
        await this.#swap();
        if (this.#open?.honoured.resourceSubscriptions?.includes(uri)) return;
        throw new ProtocolError(ErrorCode.InvalidParams, `The server does not tell of changes of ${uri}`, {
          uri,
        });
      } catch (error) {
        this.#uris.delete(uri);
        throw error;
      }
    });
  }

  unsubscribe(uri: string): Promise<void> {
    return this.#change(async () => {
      if (this.#uris.delete(uri)) await this.#swap();
    });
  }

  end(): void {
    this.#ended = true;
    this.#callOff?.();
    this.#open?.close();
  }

  #wanted(): Wanted {
    const { tools, prompts, resources } = this.#capabilities();
    return {
      ...(tools?.listChanged && { tools: true }),
      ...(prompts?.listChanged && { prompts: true }),
      ...(resources?.listChanged && { resources: true }),
      ...(this.#uris.size > 0 && { uris: [...this.#uris] }),
    };
  }

  async #swap(): Promise<void> {
    if (this.#ended) return;
    const before = this.#open;
    const wanted = this.#wanted();
    this.#open = isAnything(wanted) ? await this.#session.listen(wanted) : undefined;
    before?.close();
    if (this.#ended) this.#open?.close();
    else if (this.#open) void this.#follow(this.#open);
  }

  async #follow(changes: Changes): Promise<void> {
    try {
      for await (const change of changes) {
        await nextTurn();
        if (!this.#ended) this.#onChange(change);
      }
    } catch {
      // Its end is the end of the news; calls say what is wrong.
    }
    if (this.#ended || this.#open !== changes) return;
    this.#open = undefined;
    this.begin();
  }

  #change(action: () => Promise<void>): Promise<void> {
    const changing = this.#changing.then(action);
    this.#changing = changing.catch(() => {});
    return changing;
  }
}

/** An answer that came before the news is handed on before it, too. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function isAnything(wanted: Wanted): boolean {
  return Object.keys(wanted).length > 0;
}

const RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;

/** The ids of pages that legacy clients were sent to: only they get a notification when the user is done there (ELIC-027). */
const known = new WeakMap<object, Set<string>>();

export function noteElicitation(owner: object | undefined, id: unknown): void {
  if (!owner || typeof id !== 'string') return;
  let ids = known.get(owner);
  if (!ids) {
    ids = new Set();
    known.set(owner, ids);
  }
  ids.add(id);
  // The oldest is the first.
  if (ids.size > MAX_IDS) for (const oldest of ids) return void ids.delete(oldest);
}

/** Those that a refusal with -32042 names. */
export function noteRefusal(owner: object | undefined, error: unknown): void {
  if (!(error instanceof ProtocolError) || error.code !== ErrorCode.LegacyUrlElicitationRequired) return;
  const list = isJsonObject(error.data) ? error.data['elicitations'] : undefined;
  for (const each of Array.isArray(list) ? list : []) {
    if (isJsonObject(each)) noteElicitation(owner, each['elicitationId']);
  }
}

export function knowsElicitation(owner: object, id: string): boolean {
  return known.get(owner)?.has(id) ?? false;
}

const MAX_IDS = 1000;
