import type { Socket } from 'node:net';
import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckOptions } from '../../../src/index.js';
import type { HttpTarget } from '../../../src/wire/targets.js';

/** A server that is the demo but for one fault, and the check that has to notice. */
export interface Mutant {
  /** The id of the check. */
  readonly check: string;
  /** What is wrong with it, as a clause: `answers a notification`. */
  readonly fault: string;
  /** Where the check has to fail; in any era by default. */
  readonly era?: Era;
  /** Anything that the run needs besides the check, such as shorter patience. */
  readonly options?: CheckOptions;
  /** What the sentence about what was seen has to contain. */
  readonly seen?: RegExp;
}

/** On streams: a man in the middle between the referee and the demo. One set of hooks for each connection. */
export interface StreamMutant extends Mutant {
  readonly middle: () => Middle;
}

export interface Middle {
  /** What the referee writes, as it comes, before it is taken apart. Nothing, and it was never there. */
  readonly incomingBytes?: (bytes: Buffer, io: MiddleIo) => Buffer | undefined;
  /** A line of the referee. What is returned goes on; nothing, and the demo never hears of it. */
  readonly incomingLine?: (line: string, io: MiddleIo) => string | readonly string[] | undefined;
  /** A line of the referee that is a JSON object. Called after `incomingLine`. */
  readonly incoming?: (message: JsonObject, io: MiddleIo) => JsonObject | readonly JsonObject[] | undefined;
  /** A message of the demo. */
  readonly outgoing?: (message: JsonObject, io: MiddleIo) => JsonObject | readonly JsonObject[] | undefined;
  /** The referee has ended its side. Return false to keep that from the demo. */
  readonly inputEnd?: (io: MiddleIo) => boolean | undefined;
  readonly opened?: (io: MiddleIo) => void;
}

export interface MiddleIo {
  /** To the referee, past `outgoing`. */
  reply(message: unknown): void;
  /** To the referee, as it is. */
  raw(bytes: string | Buffer): void;
  /** To the demo, past `incoming`. */
  forward(message: unknown): void;
  /** Ends the connection, at once. */
  destroy(): void;
  /** From now on nothing is read from the referee. */
  stopReading(): void;
}

/** At a URL: a proxy in front of the demo. One set of hooks for the whole server. */
export interface HttpMutant extends Mutant {
  readonly proxy: () => ProxyHooks;
  /** What stands behind the proxy, where it is not the demo. */
  readonly base?: HttpBase;
}

/** Something at a URL. */
export type HttpBase = () => Promise<{ readonly target: HttpTarget; close(): Promise<void> }>;

/** At a URL, byte by byte: a man in the middle of each connection. One set of hooks for the whole server. */
export interface TcpMutant extends Mutant {
  readonly tcp: () => TcpHooks;
  readonly base?: HttpBase;
}

export interface TcpHooks {
  /** Where it listens. Default: 127.0.0.1. */
  readonly host?: string;
  /** A new connection. Return false to take it and never to say anything. */
  readonly connected?: (referee: Socket) => boolean | undefined;
  /** Bytes of the referee. What is returned goes on; nothing, and the server never hears of it. */
  readonly incoming?: (bytes: Buffer, referee: Socket) => Buffer | string | undefined;
  readonly outgoing?: (bytes: Buffer, referee: Socket) => Buffer | string | undefined;
}

export interface ProxyHooks {
  /** A request. Return a response to give it at once, or changes to what the demo gets. */
  readonly request?: (request: ProxyRequest) => ProxyResponse | Partial<ProxyRequest> | undefined;
  /** Status and headers of the demo's answer. */
  readonly response?: (head: ProxyHead, request: ProxyRequest) => Partial<ProxyHead> | undefined;
  /** A message in the demo's answer, in a body or in an event. Return what goes on; nothing swallows it. */
  readonly message?: (
    message: JsonObject,
    request: ProxyRequest,
  ) => JsonObject | readonly JsonObject[] | undefined;
  /** The bytes of an event, ready to be sent; return others to send. */
  readonly event?: (event: string, request: ProxyRequest) => string;
  /** The demo has ended its answer. Return false to keep it open. */
  readonly end?: (request: ProxyRequest) => boolean | undefined;
  /** The referee went away before the answer had ended. */
  readonly hungUp?: (request: ProxyRequest) => void;
}

export interface ProxyRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Their names, as they were spelled. */
  readonly names: readonly string[];
  readonly body: Buffer;
  /** The body, where it is a JSON object. */
  readonly json: JsonObject | undefined;
}

export interface ProxyHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

export interface ProxyResponse {
  readonly respond: {
    readonly status: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string | Buffer;
  };
}

/** A program of its own, in test/check/mutants/programs: for what only a process can do wrong. */
export interface CommandMutant extends Mutant {
  /** The file in test/check/mutants/programs, and its arguments. */
  readonly program: readonly [file: string, ...args: string[]];
}

export type AnyMutant = StreamMutant | HttpMutant | TcpMutant | CommandMutant;
