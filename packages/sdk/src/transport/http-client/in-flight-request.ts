import { META } from '../../era/meta-keys.js';
import { type DecodedError, isJsonObject, type JsonRpcRequest, type RequestId } from '../../wire/json-rpc.js';

/** One request of ours on its way, until it is answered, failed or called off. */
export class InFlightRequest {
  readonly id: RequestId;
  readonly request: JsonRpcRequest;
  readonly text: string;
  /** The revision that a modern request names; `undefined` for a legacy one. */
  readonly revision: string | undefined;
  /** False once nobody waits any more: nothing is delivered for it then. */
  live = true;
  /** Nothing that belongs to it is of interest any more. */
  calledOff = false;
  /** It may have reached the server. */
  begun = false;
  /** Its headers were refused; kept back while better ones are looked for. */
  mismatch: DecodedError | undefined;
  /** Calls off the end of a stream that goes on after the answer. */
  lingering: (() => void) | undefined;
  /** Told once, when its place can be given to another. */
  onLanded: (() => void) | undefined;
  readonly #controller = new AbortController();

  constructor(request: JsonRpcRequest, text: string) {
    this.id = request.id;
    this.request = request;
    this.text = text;
    const meta = request.params?.['_meta'];
    const revision = isJsonObject(meta) ? meta[META.protocolVersion] : undefined;
    this.revision = typeof revision === 'string' ? revision : undefined;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** It has its end. */
  land(): void {
    this.live = false;
    this.onLanded?.();
    this.onLanded = undefined;
  }

  /** Closes its stream. */
  abort(): void {
    this.land();
    this.#controller.abort();
  }
}
