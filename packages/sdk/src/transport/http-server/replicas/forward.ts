import { createDeferred } from '../../../async/deferred.js';
import type { Member } from '../../../cluster/member-list.js';
import { decodeLine, encodeMessage } from '../../../wire/codec.js';
import { errorMessage, type RequestId } from '../../../wire/json-rpc.js';
import type { PeerRequest, ServeAs } from '../../peers/envelope.js';
import type { PeerAnswerSink, PeerCall, PeerFailure } from '../../peers/peer-call.js';
import type { PeerClient } from '../../peers/peer-client.js';
import {
  type AdmittedRequest,
  busy,
  REPLICA_LOST,
  refuse,
  respondError,
} from '../exchange/admitted-request.js';
import { messageEvent } from '../exchange/event-writer.js';
import type { HttpHeaders, HttpStream } from '../exchange/exchange.js';
import type { WholeRequest } from './endpoint-replicas.js';

/** A request that another member works on. */
export interface ForwardedRequest {
  readonly whole: WholeRequest;
  /**
   * Settles when the answer is complete or the client was told of a failure; with the failure, if nothing was sent to the
   * client and another member may be tried.
   */
  readonly over: Promise<PeerFailure | undefined>;
  /** Ends the answer to the client here. */
  end(): void;
}

export interface ForwardOptions {
  /** See `PeerRequest`. */
  readonly as?: ServeAs | undefined;
  /** Called when the answer begins. */
  readonly onBegin?: () => void;
}

/** Hands a request on to another member, and its answer back to the client as it comes. */
export function forwardRequest(
  client: PeerClient,
  to: Member,
  service: string,
  whole: WholeRequest,
  { as, onBegin }: ForwardOptions = {},
): ForwardedRequest {
  const { promise: over, resolve } = createDeferred<PeerFailure | undefined>();
  const sink = new ForwardedAnswer(whole, resolve, onBegin);
  const call = client.send(to, toPeerRequest(service, whole.admitted, as), whole.body, sink);
  sink.call = call;
  whole.admitted.exchange.onGone(() => {
    call.abort();
    resolve(undefined);
  });
  return {
    whole,
    over,
    end() {
      call.abort();
      sink.stop();
    },
  };
}

function toPeerRequest(
  service: string,
  { exchange, principal, grant }: AdmittedRequest,
  as: ServeAs | undefined,
): PeerRequest {
  const { headers } = exchange.facts();
  const kept: Record<string, string> = {};
  for (const name in headers) if (!HOP_BY_HOP.has(name)) kept[name] = headers[name]!;
  return {
    service,
    method: exchange.method,
    target: exchange.target,
    headers: kept,
    ...(as && { as }),
    caller: {
      ...{ principal, remote: exchange.remote, via: exchange.via },
      ...{ scopes: grant?.scopes, claims: grant?.claims, clientId: grant?.clientId },
      requiredScopes: grant?.requiredScopes,
    },
  };
}

/** Writes the answer of another member to the client. A small one is written at once, a large one or a stream in pieces. */
class ForwardedAnswer implements PeerAnswerSink {
  readonly #whole: WholeRequest;
  readonly #onOver: (failure?: PeerFailure) => void;
  readonly #onBegin: (() => void) | undefined;
  call: PeerCall | undefined;
  #status = 0;
  #headers: HttpHeaders = {};
  #chunks: Buffer[] = [];
  #stream: HttpStream | undefined;
  #isEventStream = false;
  /** The client has an id of an event to resume from. */
  #canResume = false;

  constructor(whole: WholeRequest, onOver: (failure?: PeerFailure) => void, onBegin?: () => void) {
    this.#whole = whole;
    this.#onOver = onOver;
    this.#onBegin = onBegin;
  }

  begin(status: number, headers: Readonly<Record<string, string>>): void {
    this.#onBegin?.();
    const { exchange, headers: own } = this.#whole.admitted;
    const kept: Record<string, string> = {};
    for (const name in headers) if (!HOP_BY_HOP.has(name)) kept[name] = headers[name]!;
    this.#status = status;
    this.#isEventStream = headers['content-type']?.startsWith('text/event-stream') ?? false;
    const length = Number(headers['content-length'] ?? 0);
    if (!this.#isEventStream && length <= SMALL) {
      delete kept['content-length'];
      this.#headers = { ...kept, ...own };
      return;
    }
    this.#stream = exchange.stream(status, { ...kept, ...own });
    this.#stream.onDrain(() => this.call?.resume());
  }

  data(chunk: Buffer): boolean {
    const stream = this.#stream;
    if (!stream) return this.#chunks.push(chunk) > 0;
    this.#canResume ||= this.#isEventStream && (chunk.indexOf('id: ') === 0 || chunk.includes('\nid: '));
    stream.write(chunk);
    return stream.waiting <= SMALL;
  }

  end(): void {
    if (this.#stream) this.#stream.end();
    else {
      const text = Buffer.concat(this.#chunks).toString();
      this.#whole.admitted.exchange.respond(this.#status, this.#headers, text);
    }
    this.#onOver();
  }

  /** This process ends, and the answer would go on for hours. The client comes back to another process. */
  stop(): void {
    if (this.#stream) this.#stream.end();
    else busy(this.#whole.admitted, 'The server is stopping');
    this.#onOver();
  }

  failed(failure: PeerFailure): void {
    if (failure.kind !== 'lost') return this.#onOver(failure);
    if (!this.#stream && isRepeatable(this.#whole)) {
      return this.#onOver({ kind: 'unreachable', why: failure.why });
    }
    const id = requestIn(this.#whole.body);
    if (!this.#stream) this.#tellLoss(id, failure);
    else if (!this.#isEventStream) this.#stream.cut();
    else {
      // A client that can resume asks for the rest, and gets what there is. Others need an answer now.
      if (id !== undefined && !this.#canResume) {
        this.#stream.write(messageEvent(encodeMessage(errorMessage(id, REPLICA_LOST))));
      }
      this.#stream.end();
    }
    this.#onOver();
  }

  #tellLoss(id: RequestId | undefined, { why }: PeerFailure): void {
    const { admitted } = this.#whole;
    if (id !== undefined) return respondError(admitted, 200, id, REPLICA_LOST);
    refuse(admitted, 502, `The process of this session did not answer: ${why}`);
  }
}

/** The id of the only request in a body. Undefined for notifications, answers and batches. */
function requestIn(body: Buffer | undefined): RequestId | undefined {
  const message = body && decodeLine(body);
  return message?.kind === 'request' ? message.id : undefined;
}

/** Whether it does no harm to do it twice: reading a stream or a task, answers, and most notifications. */
function isRepeatable({ admitted, body }: WholeRequest): boolean {
  const { method } = admitted.exchange;
  if (method !== 'POST' || !body) return method === 'GET';
  const message = decodeLine(body);
  if (message.kind === 'notification' || message.kind === 'request') return REPEATABLE.has(message.method);
  return message.kind === 'result' || message.kind === 'error';
}

const REPEATABLE: ReadonlySet<string> = new Set([
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
  // The store has the task, and the end of a member that was asked for it is not the end of the task (TASK-M-038).
  'tasks/get',
  'tasks/list',
  'tasks/result',
  // Answers to questions that are not open any more are ignored (TASK-M-045).
  'tasks/update',
]);
/** They belong to one connection (RFC 9110, §7.6.1). Expectations were met when the body was read. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'date',
]);
const SMALL = 64 * 1024;
