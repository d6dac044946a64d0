/** What a client connects to: a command on its stdin and stdout, or an address. */
export type Address =
  | { readonly command: string; readonly args: readonly string[] }
  | { readonly url: string };

export type Era = 'legacy' | 'modern';

export type Json = Record<string, unknown>;

/** What a client was told or gave back, in the order in which it noticed. */
export type Event =
  | { readonly progress: unknown }
  | { readonly told: { readonly method: string; readonly params: unknown } }
  | { readonly asked: { readonly method: string; readonly params: unknown } }
  | { readonly message: unknown }
  | { readonly result: unknown }
  | { readonly error: unknown };

export interface RequestOptions {
  /** Asks for progress. */
  readonly progress?: boolean;
  /** Takes the request back when the first progress has come. */
  readonly cancel?: boolean;
  /** Gives up after so long. */
  readonly timeoutMs?: number;
}

/** A connected client that writes down what happens to it. */
export interface Witness {
  readonly era: Era;
  /** What the server said about itself. */
  readonly opening: Json;
  readonly events: readonly Event[];
  /** What still came of requests that had been taken back, where that can be seen. */
  readonly late?: readonly Event[];
  /** Adds its progress, and at the end its result or error, to the events. */
  request(method: string, params: Json, options?: RequestOptions): Promise<void>;
  /** Legacy: for the session. Modern: named by each request from here on. */
  setLogLevel(level: string): Promise<void>;
  /** Legacy: subscribes to the resource; lists are told of unasked. Modern: listens to it and to all lists. */
  watch(uri: string): Promise<void>;
  close(): Promise<void>;
}

export interface ClientKind {
  readonly name: string;
  readonly title: string;
  readonly era: Era;
  connect(address: Address, user: User): Promise<Witness>;
}

/** Who sits behind a client, and what the client says that it can do. */
export interface User {
  readonly capabilities: Json;
  readonly roots: readonly { readonly uri: string; readonly name?: string }[];
}

/** What a user says to each question; the same to every client. */
export function answer(method: string, params: Json, user: User): Json {
  if (method === 'roots/list') return { roots: user.roots };
  if (method === 'sampling/createMessage') {
    return { model: 'parrot', role: 'assistant', content: { type: 'text', text: 'As you say.' } };
  }
  return params['mode'] === 'url' ? { action: 'accept' } : { action: 'accept', content: fill(params) };
}

/** Every field with its default, or with something of its type. */
function fill({ requestedSchema }: Json): Json {
  const { properties = {} } = (requestedSchema ?? {}) as { properties?: Record<string, Json> };
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, schema['default'] ?? valueFor(schema)]),
  );
}

function valueFor({ type, enum: choices, oneOf, format, minimum }: Json): unknown {
  if (Array.isArray(choices)) return choices[0];
  if (Array.isArray(oneOf)) return (oneOf[0] as Json)['const'];
  if (type === 'boolean') return true;
  if (type === 'number' || type === 'integer') return minimum ?? 1;
  if (type === 'array') return [];
  const formats: Json = {
    ...{ email: 'ada@example.com', uri: 'https://example.com/' },
    ...{ date: '1815-12-10', 'date-time': '1815-12-10T12:00:00Z' },
  };
  return formats[format as string] ?? 'Ada';
}

/** For programs that official clients start: what they remember about servers must not outlive the run. */
export function cacheFolder(): { readonly XDG_CACHE_HOME: string } {
  return { XDG_CACHE_HOME: process.env['XDG_CACHE_HOME']! };
}

/** The part of an official transport that hears messages. */
interface Heard {
  onmessage?: ((message: never, extra?: never) => void) | undefined;
}

/**
 * Reports the progress notifications that reach the transport of a connected official client. The client itself drops
 * those that it reads together with the answer, so what its own handler hears depends on the speed of the machine.
 */
export function hearProgress(transport: Heard, hear: (update: Json) => void): void {
  const inner = transport.onmessage as (message: unknown, extra?: unknown) => void;
  transport.onmessage = (message: { method?: string; params?: Json }, extra?: unknown) => {
    if (message.method === 'notifications/progress') {
      const { progressToken, ...update } = message.params ?? {};
      hear(update);
    }
    inner.call(transport, message, extra);
  };
}

/**
 * How an error looks, whoever threw it. What the clients add to it is left out, and so is what they say when they
 * themselves gave up.
 */
export function toError(thrown: unknown, { cancel, timeoutMs }: RequestOptions = {}): Json {
  if (cancel || timeoutMs !== undefined) return { gaveUp: true };
  const { code, message, data } = thrown as Error & { code?: unknown; data?: unknown };
  return { code, message: message.replace(/^MCP error -?\d+: /, ''), ...(data !== undefined && { data }) };
}
