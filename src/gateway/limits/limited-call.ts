import type { Call, Peer } from '../../exchange/call.js';
import type { Cancellation } from '../../exchange/lazy-abort.js';
import type { JsonObject } from '../../wire/json-rpc.js';
import type {
  InputRequest,
  InputResponse,
  InputResponses,
  LogEntry,
  LoggingLevel,
  ProgressUpdate,
} from '../../wire/model.js';
import type { Place } from './place.js';

/** The same call; while its client is being asked something, it takes up no place. */
export class LimitedCall implements Call {
  readonly #call: Call;
  readonly #place: Place;

  constructor(call: Call, place: Place) {
    this.#call = call;
    this.#place = place;
  }

  get method(): string {
    return this.#call.method;
  }

  get params(): JsonObject {
    return this.#call.params;
  }

  /** Of the request that it answers to at the moment: after a round it may be another. */
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

  async ask(request: InputRequest, signal?: AbortSignal): Promise<InputResponse> {
    this.#place.stepOut();
    try {
      return await this.#call.ask(request, signal);
    } finally {
      this.#place.comeBack();
    }
  }
}
