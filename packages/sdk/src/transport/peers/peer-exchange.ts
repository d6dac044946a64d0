import type { RequestFacts } from '../../exchange/call.js';
import type { JsonObject } from '../../wire/json-rpc.js';
import {
  ExchangeFacts,
  type HttpBody,
  type HttpExchange,
  type HttpHeaders,
  type HttpStream,
} from '../http-server/exchange/exchange.js';
import type { NodeExchange } from '../http-server/exchange/node-exchange.js';
import { NOT_HERE, PEER_HEADER, type PeerCaller, type PeerRequest, type ServeAs } from './envelope.js';

/** A request that another member has handed on: the request is that of its client, the answer goes to the member. */
export class PeerExchange implements HttpExchange {
  readonly caller: PeerCaller;
  /** The member that has handed it on. Its signature was verified. */
  readonly from: string;
  readonly #request: PeerRequest;
  readonly #body: Buffer;
  readonly #answer: NodeExchange;
  readonly #prove: (status: number) => string;

  constructor(
    from: string,
    request: PeerRequest,
    body: Buffer,
    answer: NodeExchange,
    prove: (status: number) => string,
  ) {
    this.from = from;
    this.#request = request;
    this.caller = request.caller;
    this.#body = body;
    this.#answer = answer;
    this.#prove = prove;
  }

  get method(): string {
    return this.#request.method;
  }

  get target(): string {
    return this.#request.target;
  }

  /** See `PeerRequest`. */
  get as(): ServeAs | undefined {
    return this.#request.as;
  }

  get isLocal(): undefined {
    return undefined;
  }

  get remote(): string | undefined {
    return this.#request.caller.remote;
  }

  get via(): string | undefined {
    return this.#request.caller.via;
  }

  header(name: string): string | undefined {
    const { headers } = this.#request;
    return Object.hasOwn(headers, name) ? headers[name] : undefined;
  }

  facts(): RequestFacts {
    const { scopes, claims, clientId } = this.caller;
    const read = () => Object.entries(this.#request.headers);
    const known = { scopes, claims: claims as JsonObject | undefined, clientId, handedOnBy: this.from };
    return new ExchangeFacts(read, known);
  }

  body(maxBytes: number, onBody: (body: HttpBody) => void): void {
    onBody(this.#body.length > maxBytes ? { kind: 'too-large' } : { kind: 'bytes', bytes: this.#body });
  }

  respond(status: number, headers: HttpHeaders, body?: string | readonly string[]): void {
    this.#answer.respond(status, { ...headers, [PEER_HEADER]: this.#prove(status) }, body);
  }

  stream(status: number, headers: HttpHeaders): HttpStream {
    return this.#answer.stream(status, { ...headers, [PEER_HEADER]: this.#prove(status) });
  }

  /** The member that sent it must look elsewhere. Only before anything was done. */
  refuseAsNotHere(): void {
    this.respond(NOT_HERE, {});
  }

  onGone(callback: () => void): void {
    this.#answer.onGone(callback);
  }

  onOver(callback: () => void): void {
    this.#answer.onOver(callback);
  }
}
