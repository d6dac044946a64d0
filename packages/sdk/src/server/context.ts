import { IsthmusError, ProtocolError } from '../errors.js';
import type { Call, Era, Peer } from '../exchange/call.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';
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

/** What a handler can read and do while it runs. The same in both eras; members may be destructured. */
export class Context {
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  /** Aborted when the client cancels, the connection is lost or the server stops. */
  get signal(): AbortSignal {
    return this.#call.signal;
  }

  /** The client: era, revision, identity (self-reported) and capabilities. */
  get peer(): Peer {
    return this.#call.peer;
  }

  get era(): Era {
    return this.#call.peer.era;
  }

  /** The params of the request, `_meta` included. */
  get params(): JsonObject {
    return this.#call.params;
  }

  /** The headers of the HTTP request, with names in lower case. Undefined on other transports. */
  get headers(): Readonly<Record<string, string>> | undefined {
    return this.#call.request?.headers;
  }

  /** What the caller's token may be used for. Undefined unless `authenticate` says so. */
  get scopes(): readonly string[] | undefined {
    return this.#call.request?.scopes;
  }

  /** What the caller's token says of its owner. Undefined unless `authenticate` says so. */
  get claims(): JsonObject | undefined {
    return this.#call.request?.claims;
  }

  /** The legacy HTTP session. Undefined in the modern era, which has no sessions, and on other transports. */
  get sessionId(): string | undefined {
    return this.#call.request?.sessionId;
  }

  /** Answers to an earlier `inputRequired` of this call, by key. */
  get answers(): InputResponses | undefined {
    return this.#call.answers;
  }

  /** The state of the earlier `inputRequired`. */
  get state(): unknown {
    return this.#call.state;
  }

  /** The id of the task that this call runs as. Undefined while it is a plain call. */
  get taskId(): string | undefined {
    return this.#call.task?.id;
  }

  /**
   * Makes a task of this call, if the client takes tasks and the tool has `task`. The client then has its answer, and polls
   * for the result. Returns the id of the task, or undefined if the call stays as it is.
   */
  get startTask(): () => Promise<string | undefined> {
    const { task } = this.#call;
    return async () => task?.begin();
  }

  /** Reports progress, if the client asked for it. A value that is not greater than the last one is dropped. */
  get progress(): (progress: number, total?: number, message?: string) => void {
    const call = this.#call;
    return (progress, total, message) => {
      if (!Number.isFinite(progress)) return;
      call.progress({
        progress,
        ...(Number.isFinite(total) && { total }),
        ...(message !== undefined && { message }),
      });
    };
  }

  /** Sends a log message, if the client wants this level. Never fails: a value that JSON cannot hold is dropped. */
  get log(): (level: LoggingLevel, data: unknown, logger?: string) => void {
    const call = this.#call;
    return (level, data = null, logger) => call.log({ level, data, ...(logger !== undefined && { logger }) });
  }

  /**
   * Asks the user. With `schema` (any Standard Schema, or JSON Schema) the accepted content is checked and typed. With
   * `requestedSchema` you write the form yourself. `mode: "url"` sends the user to a URL.
   */
  get elicit(): Elicit {
    const call = this.#call;
    return ((question: FormQuestion | ElicitUrlParams) => mayBeLeft(elicit(call, question))) as Elicit;
  }

  /** Asks the client's model for a message. */
  get sample(): (params: CreateMessageParams) => Promise<CreateMessageResult> {
    const call = this.#call;
    return (params) =>
      mayBeLeft(call.ask({ method: 'sampling/createMessage', params })) as Promise<CreateMessageResult>;
  }

  /** The folders the client works in. */
  get roots(): () => Promise<Root[]> {
    const call = this.#call;
    return () =>
      mayBeLeft(call.ask({ method: 'roots/list' }).then((answer) => (answer as ListRootsResult).roots));
  }
}

interface Elicit {
  <S extends AnySchema>(question: { message: string; schema: S }): Promise<ElicitAnswer<Output<S>>>;
  (question: ElicitFormParams | ElicitUrlParams): Promise<ElicitResult>;
}

/** The answer to a form: the content that the user entered, or a refusal. */
export type ElicitAnswer<T> =
  | { readonly action: 'accept'; readonly content: T }
  | { readonly action: 'decline' }
  | { readonly action: 'cancel' };

/** A handler may return without awaiting its question; a later failure must not end the process. */
function mayBeLeft<T>(answer: Promise<T>): Promise<T> {
  answer.catch(() => {});
  return answer;
}

type FormQuestion = { message: string; schema: AnySchema } | ElicitFormParams;

async function elicit(
  call: Call,
  question: FormQuestion | ElicitUrlParams,
): Promise<ElicitResult | ElicitAnswer<unknown>> {
  const ask = (params: ElicitFormParams | ElicitUrlParams) =>
    call.ask({ method: 'elicitation/create', params } as InputRequest) as Promise<ElicitResult>;
  if ('mode' in question && question.mode === 'url') return ask(question);
  const { params, form } = toForm(question as FormQuestion);
  const answer = await ask(params);
  if (answer.action !== 'accept') return { action: answer.action };
  const checked = await form.check(answer.content ?? {});
  if (checked.ok) return { action: 'accept', content: checked.value };
  throw new ProtocolError(ErrorCode.InvalidParams, `The answer does not fit the form: ${checked.problem}`);
}

function toForm(question: FormQuestion): { params: ElicitFormParams; form: CompiledSchema } {
  if (!('schema' in question)) {
    const form = compiledForm(question.requestedSchema as JsonObject);
    return { params: { mode: 'form', ...question } as ElicitFormParams, form };
  }
  const form = compileSchema(question.schema as AnySchema, 'input', 'an elicitation');
  const requestedSchema = toFormSchema(form.json);
  return { params: { mode: 'form', message: question.message, requestedSchema }, form };
}

/** A form that is used again and again is usually the same object, so it is compiled once. */
const forms = new WeakMap<JsonObject, CompiledSchema>();

function compiledForm(schema: JsonObject): CompiledSchema {
  const known = forms.get(schema);
  if (known) return known;
  const form = compileSchema(schema, 'output', 'an elicitation');
  toFormSchema(form.json);
  forms.set(schema, form);
  return form;
}

/**
 * A schema as a form can show it: an object of text, numbers, switches and choices (ELIC-006). Keywords that forms do not
 * have are left out, since the full schema checks the answer anyway. A field that a form cannot show is an error here,
 * where the author sees it, not only in a strict client.
 */
function toFormSchema(schema: JsonObject): ElicitSchema {
  const { properties, required } = schema;
  if (schema['type'] !== 'object' || !isJsonObject(properties)) {
    throw new IsthmusError('INVALID_OPTION', 'A form needs a schema of type "object" with properties');
  }
  const fields = Object.entries(properties).map(([name, field]) => [name, toField(name, field)]);
  return {
    type: 'object',
    properties: Object.fromEntries(fields),
    ...(Array.isArray(required) && { required }),
  } as ElicitSchema;
}

const COMMON = ['type', 'title', 'description', 'default'];
const KEYWORDS: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['string', [...COMMON, 'minLength', 'maxLength', 'format', 'enum', 'enumNames', 'oneOf']],
  ['number', [...COMMON, 'minimum', 'maximum']],
  ['integer', [...COMMON, 'minimum', 'maximum']],
  ['boolean', COMMON],
  ['array', [...COMMON, 'minItems', 'maxItems', 'items']],
]);
const FORMATS: ReadonlySet<unknown> = new Set(['email', 'uri', 'date', 'date-time']);

function toField(name: string, given: unknown): JsonObject {
  const field = withType(given);
  const keywords = isJsonObject(field) ? KEYWORDS.get(field['type']) : undefined;
  if (!isJsonObject(field) || !keywords) throw notShowable(name);
  const shown: JsonObject = {};
  for (const keyword of keywords) if (field[keyword] !== undefined) shown[keyword] = field[keyword];
  if (!FORMATS.has(shown['format'])) delete shown['format'];
  if (typeof field['const'] === 'string') shown['enum'] = [field['const']];
  if (field['type'] === 'array') shown['items'] = toChoices(name, field['items']);
  return shown;
}

/** Some libraries describe a choice of strings without `type: "string"`. */
function withType(field: unknown): unknown {
  if (!isJsonObject(field) || field['type'] !== undefined) return field;
  const choices = Array.isArray(field['enum']) ? field['enum'] : [field['const']];
  return choices.every((choice) => typeof choice === 'string') ? { type: 'string', ...field } : field;
}

/** A list field is a multiple choice. */
function toChoices(name: string, items: unknown): JsonObject {
  if (isJsonObject(items)) {
    if (Array.isArray(items['enum'])) return { type: 'string', enum: items['enum'] };
    if (Array.isArray(items['anyOf'])) return { anyOf: items['anyOf'] };
  }
  throw notShowable(name);
}

function notShowable(name: string): IsthmusError {
  return new IsthmusError(
    'INVALID_OPTION',
    `The form field "${name}" must be a string, number, integer, boolean or a choice; forms are flat`,
  );
}
