import { IsthmusError } from '../errors.js';
import { isJsonObject } from '../wire/json-rpc.js';
import type {
  ClientCapabilities,
  CreateMessageParams,
  CreateMessageResult,
  ElicitParams,
  ElicitResult,
  InputRequest,
  InputResponse,
  Root,
} from '../wire/model.js';
import { capabilityNames, missingCapability } from './input-rounds.js';

/** How a client answers the questions of a server. Its declared capabilities follow from this. */
export interface Answers {
  /** Asks the user, with a form; with `urls: true` also through a URL. */
  readonly elicit?: (question: ElicitParams, context: AnswerContext) => ElicitResult | Promise<ElicitResult>;
  /** Whether `elicit` can open a URL for the user. Default false. */
  readonly urls?: boolean;
  /** Asks the client's model. */
  readonly sample?: (
    question: CreateMessageParams,
    context: AnswerContext,
  ) => CreateMessageResult | Promise<CreateMessageResult>;
  /** Whether `sample` handles tools. Default false. */
  readonly tools?: boolean;
  /** The folders the client works in. */
  readonly roots?: readonly Root[] | (() => readonly Root[] | Promise<readonly Root[]>);
  /** Answers requests of a legacy server that the core protocol does not define. An extension may. */
  readonly other?: (
    request: ForeignRequest,
    context: AnswerContext,
  ) => Record<string, unknown> | Promise<Record<string, unknown>>;
}

/** A request of a server that the core protocol does not define. */
export interface ForeignRequest {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Whether the core protocol defines such a question of a server. */
export function isQuestion(method: string): method is InputRequest['method'] {
  return method === 'elicitation/create' || method === 'sampling/createMessage' || method === 'roots/list';
}

/** What a function that answers a question gets besides the question. */
export interface AnswerContext {
  /** Aborted when the answer is not needed any more. */
  readonly signal: AbortSignal;
  /** The number of the call that led to the question, where a tap records it. */
  readonly call?: number | undefined;
}

/** The capabilities to declare for these answers. */
export function capabilitiesOf(answers: Answers): ClientCapabilities {
  return {
    ...(answers.elicit && { elicitation: answers.urls ? { form: {}, url: {} } : { form: {} } }),
    ...(answers.sample && { sampling: answers.tools ? { tools: {} } : {} }),
    ...(answers.roots && { roots: {} }),
  };
}

export function canAnswer(answers: Answers, request: InputRequest): boolean {
  if (!isQuestion(request.method)) return answers.other !== undefined;
  return missingCapability(lenient(request), capabilitiesOf(answers)) === undefined;
}

/** The capabilities of a client that passes questions on to all of these clients. */
export function unionOf(capabilities: readonly ClientCapabilities[]): ClientCapabilities {
  const union: ClientCapabilities = {};
  for (const [name, value] of capabilities.flatMap((each) => Object.entries(each))) {
    const known: unknown = union[name as keyof ClientCapabilities];
    const both = isJsonObject(known) && isJsonObject(value) ? { ...known, ...value } : value;
    Object.assign(union, { [name]: both });
  }
  return union;
}

/** Answers one question, or rejects with `CANNOT_ANSWER` if it needs an undeclared capability. */
export async function answerQuestion(
  answers: Answers,
  request: InputRequest,
  signal: AbortSignal,
  call?: number,
): Promise<InputResponse> {
  if (!isQuestion(request.method) && answers.other) {
    const { method, params = {} } = request as ForeignRequest;
    return (await answers.other({ method, params }, { signal })) as unknown as InputResponse;
  }
  const missing = missingCapability(lenient(request), capabilitiesOf(answers));
  if (!missing) {
    switch (request.method) {
      case 'elicitation/create':
        return answers.elicit!(request.params, { signal, call });
      case 'sampling/createMessage':
        return answers.sample!(request.params, { signal, call });
      case 'roots/list': {
        const roots = typeof answers.roots === 'function' ? await answers.roots() : answers.roots!;
        return { roots: [...roots] };
      }
    }
  }
  const what = missing ? ` (it needs ${capabilityNames(missing)})` : '';
  throw new IsthmusError(
    'CANNOT_ANSWER',
    `The server asked for ${String((request as InputRequest).method)}, which this client did not declare${what}`,
    { sent: 'maybe' },
  );
}

/** SAMP-010: a client may ignore `includeContext`. */
function lenient(request: InputRequest): InputRequest {
  if (request.method !== 'sampling/createMessage' || request.params.includeContext === undefined)
    return request;
  const { includeContext, ...params } = request.params;
  return { ...request, params };
}
