import { type Era, type MemoryLink, memory, type ServeOptions, type Server, serve } from '../../src/index.js';
import type {
  Decoded,
  DecodedNotification,
  DecodedRequest,
  JsonObject,
  JsonRpcErrorBody,
  RequestId,
} from '../../src/wire/json-rpc.js';

/** Raw messages against a server in memory: what a client of either era would see, and nothing more. */

export const ERAS: readonly Era[] = ['legacy', 'modern'];
export const LEGACY = '2025-11-25';
export const MODERN = '2026-07-28';

export const ALL_CAPABILITIES = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: {},
};

export interface PeerOptions {
  readonly capabilities?: JsonObject;
  /** Legacy only: the revision asked for in `initialize`. */
  readonly revision?: string;
  readonly options?: ServeOptions;
}

/** Serves `server` in memory and connects one client of the given era. Disposing closes both. */
export async function connectTo(server: Server, era: Era, peerOptions: PeerOptions = {}): Promise<RawPeer> {
  const link = memory();
  const served = await serve(server, link, peerOptions.options);
  const peer = await openPeer(link, era, peerOptions);
  peer.onDispose = () => served.close({ graceMs: 0 });
  return peer;
}

/** One more client on a link that is served already. */
export async function openPeer(link: MemoryLink, era: Era, options: PeerOptions = {}): Promise<RawPeer> {
  const peer = new RawPeer(link, era, options.capabilities ?? ALL_CAPABILITIES);
  if (era === 'legacy') {
    await peer.result('initialize', {
      protocolVersion: options.revision ?? LEGACY,
      capabilities: peer.capabilities,
      clientInfo: { name: 'raw', version: '1' },
    });
    peer.notify('notifications/initialized');
  }
  return peer;
}

/** How a client answers a question of the server. */
export type Respond = (question: { method: string; params: JsonObject }) => JsonObject;

export class RawPeer implements AsyncDisposable {
  readonly era: Era;
  readonly capabilities: JsonObject;
  /** Everything that was neither an answer nor a question, in order of arrival. */
  readonly notifications: DecodedNotification[] = [];
  readonly questions: DecodedRequest[] = [];
  onDispose: () => Promise<void> = async () => {};
  respond: Respond | undefined;
  readonly #connection;
  readonly #waiting = new Map<RequestId, (answer: Decoded) => void>();
  #nextId = 1;

  constructor(link: MemoryLink, era: Era, capabilities: JsonObject) {
    this.era = era;
    this.capabilities = capabilities;
    this.#connection = link.connect();
    this.#connection.open({
      receive: (message) => this.#receive(message),
      inputEnded: () => {},
      drained: () => {},
    });
  }

  get nextId(): number {
    return this.#nextId;
  }

  get closed() {
    return this.#connection.closed;
  }

  /** The `result` of a request; fails the test when the answer is an error or does not come. */
  async result(method: string, params: JsonObject = {}): Promise<JsonObject> {
    const answer = await this.request(method, params);
    if (answer.kind === 'result') return answer.result;
    throw new Error(`${method} was answered with ${JSON.stringify(answer)}`);
  }

  /** The `error` of a request; fails the test when it succeeds or is not answered. */
  async error(method: string, params: JsonObject = {}): Promise<JsonRpcErrorBody> {
    const answer = await this.request(method, params);
    if (answer.kind === 'error') return answer.error;
    throw new Error(`${method} was answered with ${JSON.stringify(answer)}`);
  }

  request(method: string, params: JsonObject = {}, meta: JsonObject = {}): Promise<Decoded> {
    const id = this.#nextId++;
    const answered = new Promise<Decoded>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method} was never answered`)), 3000);
      this.#waiting.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
    });
    this.send({ jsonrpc: '2.0', id, method, params: this.envelope(params, meta) });
    return answered;
  }

  /** Calls and answers whatever the server asks on the way: requests in legacy, rounds in modern. */
  async converse(method: string, params: JsonObject, respond: Respond): Promise<Decoded> {
    this.respond = respond;
    let extra: JsonObject = {};
    for (let round = 0; round < 10; round += 1) {
      const answer = await this.request(method, { ...params, ...extra });
      if (answer.kind !== 'result' || answer.result['resultType'] !== 'input_required') return answer;
      const { inputRequests = {}, requestState } = answer.result as {
        inputRequests?: Record<string, { method: string; params?: JsonObject }>;
        requestState?: string;
      };
      const answers = Object.entries(inputRequests).map(([key, question]) => [
        key,
        respond({ method: question.method, params: question.params ?? {} }),
      ]);
      extra = {
        inputResponses: Object.fromEntries(answers),
        ...(requestState !== undefined && { requestState }),
      };
    }
    throw new Error(`${method} asked ten times, which is the limit`);
  }

  notify(method: string, params?: JsonObject): void {
    this.send({ jsonrpc: '2.0', method, ...(params && { params }) });
  }

  /** Sends anything, also what no client should. */
  send(message: JsonObject): void {
    this.#connection.send(message as never);
  }

  envelope(params: JsonObject, meta: JsonObject = {}): JsonObject {
    if (this.era === 'legacy') return Object.keys(meta).length > 0 ? { ...params, _meta: meta } : params;
    return {
      ...params,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': MODERN,
        'io.modelcontextprotocol/clientCapabilities': this.capabilities,
        ...meta,
      },
    };
  }

  close(): void {
    this.#connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
    await this.onDispose();
  }

  #receive(message: Decoded): void {
    if (message.kind === 'notification') this.notifications.push(message);
    else if (message.kind === 'request') this.#answer(message);
    else if ((message.kind === 'result' || message.kind === 'error') && message.id !== undefined) {
      const settle = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      settle?.(message);
    }
  }

  #answer(question: DecodedRequest): void {
    this.questions.push(question);
    const result = this.respond?.({ method: question.method, params: question.params ?? {} });
    if (result) this.send({ jsonrpc: '2.0', id: question.id, result });
  }
}

/** What both eras have in common: a result without the modern envelope. */
export function payload(result: JsonObject): JsonObject {
  const { resultType, _meta, ttlMs, cacheScope, ...rest } = result;
  return rest;
}

/** The payload of a `tools/call`. */
export async function callTool(peer: RawPeer, name: string, args?: unknown): Promise<JsonObject> {
  return payload(await peer.result('tools/call', { name, ...(args !== undefined && { arguments: args }) }));
}

/** Lets everything that is due in this and the next turns of the loop happen. */
export async function settle(turns = 3): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

export function text(words: string): JsonObject {
  return { content: [{ type: 'text', text: words }] };
}

export function toolError(words: string): JsonObject {
  return { content: [{ type: 'text', text: words }], isError: true };
}
