import { IsthmusError, ProtocolError } from '../errors.js';
import type { Peer } from '../exchange/call.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';
import type { ClientCapabilities, InputRequest, InputRequests, InputResponse } from '../wire/model.js';

/** What a service returns to ask for another round and keep nothing in memory in between (replay style). */
export interface InputRequired extends JsonObject {
  readonly resultType: 'input_required';
  readonly inputRequests?: InputRequests;
  /** Any JSON value. It is sealed before it is sent, and is `call.state` in the next round. */
  readonly state?: unknown;
}

export function isInputRequired(result: JsonObject): result is InputRequired {
  return result['resultType'] === 'input_required';
}

/** What is wrong with an `input_required` result that a client received, or `undefined` (MRTR-004 … MRTR-006). */
export function roundProblem({ inputRequests, requestState }: JsonObject): string | undefined {
  if (inputRequests === undefined && requestState === undefined)
    return 'has neither inputRequests nor a requestState';
  if (requestState !== undefined && typeof requestState !== 'string')
    return 'has a requestState that is not a string';
  if (inputRequests === undefined) return undefined;
  if (!isJsonObject(inputRequests)) return 'has inputRequests that are not an object';
  for (const [key, request] of Object.entries(inputRequests)) {
    if (!isJsonObject(request) || typeof request['method'] !== 'string')
      return `has no method in inputRequests["${key}"]`;
    if (request['method'] !== 'roots/list' && !isJsonObject(request['params'])) {
      return `has no params for ${request['method']}`;
    }
  }
  return undefined;
}

/** What is wrong with an answer to `request`, or `undefined` (MRTR-025). */
export function answerProblem(request: InputRequest, answer: unknown): string | undefined {
  if (!isJsonObject(answer)) return 'must be an object';
  switch (request.method) {
    case 'elicitation/create':
      if (answer['action'] !== 'accept' && answer['action'] !== 'decline' && answer['action'] !== 'cancel') {
        return 'needs "action": accept, decline or cancel';
      }
      if (answer['content'] !== undefined && !isJsonObject(answer['content']))
        return '"content" must be an object';
      return undefined;
    case 'sampling/createMessage':
      if (typeof answer['model'] !== 'string') return 'needs a string "model"';
      if (answer['role'] !== 'assistant' && answer['role'] !== 'user') return 'needs "role"';
      if (!isJsonObject(answer['content']) && !Array.isArray(answer['content'])) return 'needs "content"';
      return undefined;
    case 'roots/list':
      if (!Array.isArray(answer['roots'])) return 'needs a "roots" array';
      return answer['roots'].every((root) => isJsonObject(root) && typeof root['uri'] === 'string')
        ? undefined
        : 'each root needs a string "uri"';
  }
}

/** MRTR-003: only three methods have rounds. */
export function cannotAsk(method: string): ProtocolError {
  return new ProtocolError(ErrorCode.InternalError, `${method} cannot ask the client for input`);
}

/** MRTR-004: a round has questions or a state. */
export function emptyRound(method: string): ProtocolError {
  return new ProtocolError(
    ErrorCode.InternalError,
    `${method} returned inputRequired without requests and without state`,
  );
}

/** Narrows an answer, or throws the error that the peer gets for it. */
export function checkedAnswer(key: string, request: InputRequest, answer: unknown): InputResponse {
  const problem = answerProblem(request, answer);
  if (problem === undefined) return answer as InputResponse;
  throw new ProtocolError(ErrorCode.InvalidParams, `The answer to ${key} (${request.method}) ${problem}`);
}

/**
 * The undeclared client capability that a question needs, as a capability object (`{ elicitation: { url: {} } }`), or
 * `undefined` if the question may be asked. `elicitation: {}` means form mode only (wire sheet §3).
 */
export function missingCapability(
  request: InputRequest,
  declared: ClientCapabilities,
): ClientCapabilities | undefined {
  switch (request.method) {
    case 'roots/list':
      return declared.roots ? undefined : { roots: {} };
    case 'elicitation/create': {
      const elicitation = declared.elicitation;
      if (request.params.mode === 'url') {
        return elicitation?.url ? undefined : { elicitation: { url: {} } };
      }
      if (elicitation && (elicitation.form || !elicitation.url)) return undefined;
      return { elicitation: { form: {} } };
    }
    case 'sampling/createMessage': {
      const { tools, toolChoice, includeContext } = request.params;
      if (!declared.sampling) return { sampling: {} };
      if ((tools !== undefined || toolChoice !== undefined) && !declared.sampling.tools) {
        return { sampling: { tools: {} } };
      }
      if (includeContext !== undefined && includeContext !== 'none' && !declared.sampling.context) {
        return { sampling: { context: {} } };
      }
      return undefined;
    }
  }
}

/** META-008: names exactly what was missing. */
export function capabilityRequired(missing: ClientCapabilities): ProtocolError {
  return new ProtocolError(
    ErrorCode.MissingClientCapability,
    `This call needs the client capability ${capabilityNames(missing)}`,
    { requiredCapabilities: missing },
  );
}

/** Why the client of a task cannot be asked this, as its era says it. Undefined: it can. */
export function cannotBeAsked(request: InputRequest, peer: Peer): Error | undefined {
  const missing = missingCapability(request, peer.capabilities);
  if (!missing) return undefined;
  if (peer.era === 'modern') return capabilityRequired(missing);
  return new IsthmusError('CAPABILITY_MISSING', `The client did not declare ${capabilityNames(missing)}`);
}

/** `sampling.tools`: the dotted names of a capability object, for messages. */
export function capabilityNames(capabilities: ClientCapabilities): string {
  const names: string[] = [];
  for (const [name, value] of Object.entries(capabilities)) {
    const inner = isJsonObject(value) ? Object.keys(value) : [];
    names.push(...(inner.length === 0 ? [name] : inner.map((part) => `${name}.${part}`)));
  }
  return names.join(', ');
}
