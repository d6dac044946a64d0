import { ProtocolError } from '../errors.js';
import type { Call, Era, Peer } from '../exchange/call.js';
import { ErrorCode } from '../wire/error-codes.js';
import type { JsonObject } from '../wire/json-rpc.js';
import type {
  CreateMessageParams,
  CreateMessageResult,
  ElicitFormParams,
  ElicitResult,
  ElicitSchema,
  ElicitUrlParams,
  InputRequest,
  InputResponses,
  ListRootsResult,
  LoggingLevel,
  Root,
} from '../wire/model.js';
import { type AnySchema, type CompiledSchema, compileSchema, type Output } from './schema.js';

/** What a handler can find out and do while it runs. The same in both eras. */
export class Context {
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  /** Aborted when the client cancels, the connection dies or the server stops. */
  get signal(): AbortSignal {
    return this.#call.signal;
  }

  /** Who is calling: era, revision, identity (self-reported) and capabilities. */
  get peer(): Peer {
    return this.#call.peer;
  }

  get era(): Era {
    return this.#call.peer.era;
  }

  /** The request as it came, `_meta` included. */
  get params(): JsonObject {
    return this.#call.params;
  }

  /** Answers to an earlier `inputRequired` of this call, by key. */
  get answers(): InputResponses | undefined {
    return this.#call.answers;
  }

  /** The state that the earlier `inputRequired` carried. */
  get state(): unknown {
    return this.#call.state;
  }

  /** Reports progress, if the client asked for it. Values that do not rise are dropped. */
  progress(progress: number, total?: number, message?: string): void {
    this.#call.progress({
      progress,
      ...(total !== undefined && { total }),
      ...(message !== undefined && { message }),
    });
  }

  /** Sends a log message, if the client wants this level. */
  log(level: LoggingLevel, data: unknown, logger?: string): void {
    this.#call.log({ level, data, ...(logger !== undefined && { logger }) });
  }

  /**
   * Asks the user. With `schema` (any Standard Schema, or JSON Schema) the accepted content is checked and
   * typed; with `requestedSchema` you write the form yourself; `mode: "url"` sends the user to a page.
   */
  elicit<S extends AnySchema>(question: { message: string; schema: S }): Promise<ElicitAnswer<Output<S>>>;
  elicit(question: ElicitFormParams | ElicitUrlParams): Promise<ElicitResult>;
  async elicit(
    question: { message: string; schema: AnySchema } | ElicitFormParams | ElicitUrlParams,
  ): Promise<ElicitResult | ElicitAnswer<unknown>> {
    if ('mode' in question && question.mode === 'url') return this.#ask(elicitation(question));
    const { params, form } = toForm(question as { message: string; schema: AnySchema } | ElicitFormParams);
    const answer: ElicitResult = await this.#ask(elicitation(params));
    if (answer.action !== 'accept') return { action: answer.action };
    const checked = await form.check(answer.content ?? {});
    if (!checked.ok) {
      throw new ProtocolError(
        ErrorCode.InvalidParams,
        `The answer does not fit the form: ${checked.problem}`,
      );
    }
    return { action: 'accept', content: checked.value as never };
  }

  /** Asks the client's model for a message. */
  sample(params: CreateMessageParams): Promise<CreateMessageResult> {
    return this.#ask({ method: 'sampling/createMessage', params });
  }

  /** The folders the client works in. */
  async roots(): Promise<Root[]> {
    const answer: ListRootsResult = await this.#ask({ method: 'roots/list' });
    return answer.roots;
  }

  #ask<T>(request: InputRequest): Promise<T> {
    return this.#call.ask(request) as Promise<T>;
  }
}

/** An answer to a form: what the user entered, or that they would not. */
export type ElicitAnswer<T> =
  | { readonly action: 'accept'; readonly content: T }
  | { readonly action: 'decline' }
  | { readonly action: 'cancel' };

function elicitation(params: ElicitFormParams | ElicitUrlParams): InputRequest {
  return { method: 'elicitation/create', params } as InputRequest;
}

function toForm(question: { message: string; schema: AnySchema } | ElicitFormParams): {
  params: ElicitFormParams;
  form: CompiledSchema;
} {
  if (!('schema' in question)) {
    const form = compileSchema(question.requestedSchema as JsonObject, 'output', 'an elicitation');
    return { params: { mode: 'form', ...question } as ElicitFormParams, form };
  }
  const form = compileSchema(question.schema as AnySchema, 'input', 'an elicitation');
  // A form is flat: of the schema's root only these members have a meaning (ELIC-006).
  const { type, properties, required } = form.json;
  const requestedSchema = { type, properties, ...(required !== undefined && { required }) } as ElicitSchema;
  return { params: { mode: 'form', message: question.message, requestedSchema }, form };
}
