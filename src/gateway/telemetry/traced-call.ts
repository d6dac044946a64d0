import type { Call, Peer } from '../../exchange/call.js';
import type { Cancellation } from '../../exchange/lazy-abort.js';
import { isJsonObject, type JsonObject } from '../../wire/json-rpc.js';
import type {
  InputRequest,
  InputResponse,
  InputResponses,
  LogEntry,
  LoggingLevel,
  ProgressUpdate,
} from '../../wire/model.js';

/** The same call, as a part of another span. All else is asked of the call itself, since it changes while it runs. */
export class TracedCall implements Call {
  readonly params: JsonObject;
  readonly #call: Call;

  constructor(call: Call, trace: { readonly traceparent: string; readonly tracestate: string | undefined }) {
    this.#call = call;
    const { _meta } = call.params;
    const { traceparent: _parent, tracestate: _state, ...kept } = isJsonObject(_meta) ? _meta : {};
    const own: JsonObject = { ...kept, traceparent: trace.traceparent };
    if (trace.tracestate !== undefined) own['tracestate'] = trace.tracestate;
    this.params = { ...call.params, _meta: own };
  }

  get method(): string {
    return this.#call.method;
  }

  get peer(): Peer {
    return this.#call.peer;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  get cancellation(): Cancellation {
    return this.#call.cancellation;
  }

  get answers(): InputResponses | undefined {
    return this.#call.answers;
  }

  get state(): unknown {
    return this.#call.state;
  }

  get logLevel(): LoggingLevel | undefined {
    return this.#call.logLevel;
  }

  get wantsProgress(): boolean {
    return this.#call.wantsProgress;
  }

  progress(update: ProgressUpdate): void {
    this.#call.progress(update);
  }

  log(entry: LogEntry): void {
    this.#call.log(entry);
  }

  ask(request: InputRequest, signal?: AbortSignal): Promise<InputResponse> {
    return this.#call.ask(request, signal);
  }
}
