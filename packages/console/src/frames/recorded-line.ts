import type { ConnectionEnd } from '@isthmus/sdk/internal/exchange/connection.js';
import type {
  FrameDirection,
  TapLine,
  TappedConnection,
  TappedHttp,
} from '@isthmus/sdk/internal/exchange/tap.js';
import { decodeLine, decodeText } from '@isthmus/sdk/internal/wire/codec.js';
import {
  type Decoded,
  isJsonObject,
  type JsonObject,
  type JsonRpcMessage,
  type RequestId,
} from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { EraName, FrameKind, ProcessFacts } from '../contract.js';
import { factsOf, type MessageFacts } from './message-facts.js';
import { describeEnd, type RecorderOptions } from './recorder.js';
import type { KeptFrame, NewFrame } from './ring.js';

/** A request that has no answer yet, as far as a row of its answer needs it. */
interface OpenRequest {
  readonly seq: number;
  readonly at: number;
  readonly method: string | undefined;
  readonly about: string | undefined;
  call: number;
}

interface LineScope {
  readonly id: number;
  /** The client is the page itself. */
  readonly isOwn: boolean;
  /** The server in a gateway. */
  readonly server: string | undefined;
}

/** Records the frames of one connection, and finds the request and the call that each belongs to. */
export class RecordedLine implements TapLine {
  readonly id: number;
  readonly #scope: LineScope;
  readonly #connection: TappedConnection;
  readonly #options: RecorderOptions;
  readonly #open: Readonly<Record<FrameDirection, Map<RequestId, OpenRequest>>> = {
    'to-server': new Map(),
    'to-client': new Map(),
  };

  /** Questions that are not wanted yet: it is not known which call they belong to. */
  readonly #unrelated = new Map<RequestId, () => void>();
  #isEraKnown = false;

  constructor(scope: LineScope, connection: TappedConnection, options: RecorderOptions) {
    this.id = scope.id;
    this.#scope = scope;
    this.#connection = connection;
    this.#options = options;
    const { transport, pid, label } = connection;
    const isProcess = transport === 'stdio' && connection.side === 'upstream';
    this.#process(
      { what: isProcess ? 'start' : 'connect', ...(pid !== undefined && { pid }) },
      isProcess
        ? `${label} was started${pid === undefined ? '' : `, process ${pid}`}`
        : `connected: ${label}`,
    );
  }

  sent(text: string, message?: JsonRpcMessage | Decoded, http?: TappedHttp): void {
    const direction = this.#connection.side === 'upstream' ? 'to-server' : 'to-client';
    this.#message(direction, text, message ?? decodeText(text), http, message === undefined);
  }

  received(data: string | Buffer, message?: Decoded, http?: TappedHttp): void {
    const direction = this.#connection.side === 'upstream' ? 'to-client' : 'to-server';
    const decoded = message ?? (typeof data === 'string' ? decodeText(data) : decodeLine(Buffer.from(data)));
    this.#message(direction, data, decoded, http, false);
  }

  http(direction: FrameDirection, facts: TappedHttp, body?: Buffer): void {
    if (!this.#wants(0)) return;
    const { method, status, path, event } = facts;
    this.#add({
      ...{ direction, kind: 'http', data: body ?? '', http: facts },
      method: method ?? (status === undefined ? event : String(status)),
      about: path,
      failed: status !== undefined && status >= 400,
    });
  }

  stderr(text: string): void {
    if (!this.#wants(0)) return;
    this.#add({ direction: 'to-client', kind: 'stderr', data: text });
    this.#options.onStderr?.(this.id, text);
  }

  relate(direction: FrameDirection, id: RequestId, number: number): void {
    const open = this.#open[direction];
    const keep = this.#unrelated.get(id);
    if (direction === 'to-client' && keep && this.#wants(number)) {
      this.#unrelated.delete(id);
      keep();
    }
    const known = open.get(id);
    if (!known) {
      this.#keepOpen(direction, id, { seq: 0, at: 0, method: undefined, about: undefined, call: number });
      return;
    }
    known.call = number;
    const frame = this.#options.ring.get(known.seq);
    if (frame) frame.call = number;
  }

  numberOf(id: RequestId): number | undefined {
    const call = this.#open['to-server'].get(id)?.call;
    return call === 0 ? undefined : call;
  }

  end(end: ConnectionEnd): void {
    const why = describeEnd(end);
    const isProcess = this.#connection.transport === 'stdio' && this.#connection.side === 'upstream';
    this.#process({ what: isProcess ? 'exit' : end.kind === 'lost' ? 'lost' : 'closed' }, why);
    this.#options.connections.change(this.id, { state: 'ended', ended: { at: Date.now(), why } });
    this.#options.onEnd?.(this.id, why);
  }

  #message(
    direction: FrameDirection,
    data: string | Buffer,
    message: JsonRpcMessage | Decoded,
    http: TappedHttp | undefined,
    byHand: boolean,
  ): void {
    const facts = factsOf(message);
    if (!this.#isEraKnown) this.#learn(message, facts);
    const at = this.#options.now();
    const open = this.#requestOf(direction, facts);
    const isAnswer = facts.kind === 'result' || facts.kind === 'error';
    if (isAnswer) this.#options.connections.answered(this.id, Date.now());
    const call = open?.call || this.#newCall(direction, facts);
    const keep = () => {
      const frame = this.#add({
        ...{ direction, data, http, byHand, call },
        kind: facts.kind,
        id: facts.id,
        method: facts.method ?? open?.method,
        about: facts.about ?? open?.about,
        failed: facts.failed || (http?.status ?? 0) >= 400,
        problem: facts.problem,
        ...(isAnswer && open && open.seq > 0 && { answers: open.seq, took: at - open.at }),
      });
      if (facts.kind === 'request') this.#begin(direction, facts, frame);
    };
    if (isAnswer && facts.id !== undefined && direction === 'to-server') this.#unrelated.delete(facts.id);
    if (this.#wants(call)) keep();
    else if (facts.kind === 'request' && direction === 'to-client') this.#hold(facts.id!, keep);
  }

  #hold(question: RequestId, keep: () => void): void {
    this.#unrelated.set(question, keep);
    if (this.#unrelated.size > MAX_UNRELATED) this.#unrelated.delete(this.#unrelated.keys().next().value!);
  }

  /** Each message of an era shows it. Requests that only find the era out do not. */
  #learn(message: JsonRpcMessage | Decoded, { kind, method = '' }: MessageFacts): void {
    if (kind === 'result') {
      const { result } = message as { readonly result?: JsonObject };
      const revision = result?.['protocolVersion'];
      if (typeof revision === 'string') this.#tellEra('legacy', revision);
      return;
    }
    if (kind !== 'request' || NO_CALLS.has(method)) return;
    const { params } = message as { readonly params?: JsonObject };
    const meta = params?.['_meta'];
    const revision = isJsonObject(meta) ? meta['io.modelcontextprotocol/protocolVersion'] : undefined;
    if (typeof revision === 'string') this.#tellEra('modern', revision);
    else this.#tellEra('legacy', undefined);
  }

  #tellEra(era: EraName, revision: string | undefined): void {
    this.#isEraKnown = true;
    const { connections } = this.#options;
    // Those who made the connection may know better.
    if (connections.get(this.id)?.era !== undefined) return;
    connections.change(this.id, { state: 'open', era, ...(revision !== undefined && { revision }) });
  }

  /** The open request that a message is, answers or tells about. An answered one is closed. */
  #requestOf(direction: FrameDirection, { kind, id, of }: MessageFacts): OpenRequest | undefined {
    const same = this.#open[direction];
    const other = this.#open[direction === 'to-server' ? 'to-client' : 'to-server'];
    if (kind === 'notification') return of && (of.isOfPeer ? other : same).get(of.id);
    if (id === undefined) return undefined;
    if (kind === 'request') {
      const related = same.get(id);
      // An id that is used again is another request.
      return related?.seq === 0 ? related : undefined;
    }
    const answered = other.get(id);
    if (answered) other.delete(id);
    return answered;
  }

  #begin(direction: FrameDirection, { id, method, about }: MessageFacts, frame: KeptFrame): void {
    const { seq, at, call } = frame;
    this.#keepOpen(direction, id!, { seq, at, method, about, call });
  }

  #keepOpen(direction: FrameDirection, id: RequestId, request: OpenRequest): void {
    const open = this.#open[direction];
    open.set(id, request);
    if (open.size > MAX_OPEN) open.delete(open.keys().next().value!);
  }

  /** Whether frames of this call are kept; 0: of no call. The frames of the page's own connection always are. */
  #wants(call: number): boolean {
    const { isOwn, server } = this.#scope;
    return isOwn || this.#options.wants?.(call, server) !== false;
  }

  /** On the side of a client every call gets a number; elsewhere those who make the call have given it one. */
  #newCall(direction: FrameDirection, { kind, method = '' }: MessageFacts): number {
    const isClients = this.#connection.side === 'client' && direction === 'to-server';
    return isClients && kind === 'request' && !NO_CALLS.has(method)
      ? this.#options.nextCall(this.#scope.isOwn)
      : 0;
  }

  #process(process: ProcessFacts, text: string): void {
    if (!this.#wants(0)) return;
    const direction = this.#connection.side === 'upstream' ? 'to-client' : 'to-server';
    this.#add({ direction, kind: 'process', data: text, process, method: process.what });
  }

  #add(frame: Omit<NewFrame, 'at' | 'connection'> & { readonly kind: FrameKind }): KeptFrame {
    const { ring, connections, clean, now } = this.#options;
    const kept = ring.add({ ...(clean ? cleaned(frame, clean) : frame), at: now(), connection: this.id });
    connections.extend(this.id, kept.seq);
    return kept;
  }
}

function cleaned<T extends Pick<NewFrame, 'data'>>(frame: T, clean: (text: string) => string): T {
  const text = typeof frame.data === 'string' ? frame.data : frame.data.toString();
  const data = clean(text);
  return data === text ? frame : { ...frame, data, bytes: Buffer.byteLength(text), redacted: true };
}

const MAX_OPEN = 10_000;
const MAX_UNRELATED = 100;
/** Requests that are not calls of a person or a program: the handshake, and what keeps a connection alive. */
const NO_CALLS: ReadonlySet<string> = new Set(['initialize', 'server/discover', 'ping', 'logging/setLevel']);
