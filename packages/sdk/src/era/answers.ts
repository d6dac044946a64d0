import { IsthmusError } from '../errors.js';
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

/** What a client can do when a server asks. Declared once; the capabilities it sends follow from it. */
export interface Answers {
  /** Asks the user. Form and URL questions arrive here; `urls: true` says that pages can be opened. */
  readonly elicit?: (question: ElicitParams, context: AnswerContext) => ElicitResult | Promise<ElicitResult>;
  /** Whether `elicit` can also send the user to a URL. Default false. */
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
}

export interface AnswerContext {
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** The capabilities that these answers amount to. */
export function capabilitiesOf(answers: Answers): ClientCapabilities {
  return {
    ...(answers.elicit && { elicitation: answers.urls ? { form: {}, url: {} } : { form: {} } }),
    ...(answers.sample && { sampling: answers.tools ? { tools: {} } : {} }),
    ...(answers.roots && { roots: {} }),
  };
}

export function canAnswer(answers: Answers, request: InputRequest): boolean {
  return missingCapability(lenient(request), capabilitiesOf(answers)) === undefined;
}

/** What somebody can answer who can ask all of these. */
export function unionOf(capabilities: readonly ClientCapabilities[]): ClientCapabilities {
  const union: ClientCapabilities = {};
  for (const [name, value] of capabilities.flatMap((each) => Object.entries(each))) {
    Object.assign(union, { [name]: { ...union[name as keyof ClientCapabilities], ...value } });
  }
  return union;
}

/** Answers one question, or rejects with `CANNOT_ANSWER` when nobody declared to. */
export async function answerQuestion(
  answers: Answers,
  request: InputRequest,
  signal: AbortSignal,
): Promise<InputResponse> {
  const missing = missingCapability(lenient(request), capabilitiesOf(answers));
  if (!missing) {
    switch (request.method) {
      case 'elicitation/create':
        return answers.elicit!(request.params, { signal });
      case 'sampling/createMessage':
        return answers.sample!(request.params, { signal });
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

/** SAMP-010: a wish for context may be passed over. */
function lenient(request: InputRequest): InputRequest {
  if (request.method !== 'sampling/createMessage' || request.params.includeContext === undefined)
    return request;
  const { includeContext, ...params } = request.params;
  return { ...request, params };
}
