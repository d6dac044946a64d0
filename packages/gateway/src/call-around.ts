import type { Cancellation } from '@isthmus/sdk/internal/async/abort.js';
import type { Call, Peer } from '@isthmus/sdk/internal/exchange/call.js';
import type { JsonObject, RequestId } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type {
  InputRequest,
  InputResponse,
  InputResponses,
  LogEntry,
  LoggingLevel,
  ProgressUpdate,
} from '@isthmus/sdk/internal/wire/model.js';

/** A call around another one, for those who change only a part of it. All else is asked of it, since it changes while it runs. */
export class CallAround implements Call {
  readonly params: JsonObject;
  protected readonly whole: Call;

  constructor(whole: Call, params: JsonObject = whole.params) {
    this.whole = whole;
    this.params = params;
  }

  get id(): RequestId | undefined {
    return this.whole.id;
  }

  get method(): string {
    return this.whole.method;
  }

  get peer(): Peer {
    return this.whole.peer;
  }

  get signal(): AbortSignal {
    return this.whole.signal;
  }

  get cancellation(): Cancellation {
    return this.whole.cancellation;
  }

  get answers(): InputResponses | undefined {
    return this.whole.answers;
  }

  get state(): unknown {
    return this.whole.state;
  }

  get logLevel(): LoggingLevel | undefined {
    return this.whole.logLevel;
  }

  get wantsProgress(): boolean {
    return this.whole.wantsProgress;
  }

  progress(update: ProgressUpdate): void {
    this.whole.progress(update);
  }

  log(entry: LogEntry): void {
    this.whole.log(entry);
  }

  ask(request: InputRequest, signal?: AbortSignal): Promise<InputResponse> {
    return this.whole.ask(request, signal);
  }
}
