import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckConversation, KnownFaults, Reply, ServerAnswer } from '../conversation/conversation.js';
import { type Frame, membersOf } from '../wire/transcript.js';
import { type Consent, objectionTo, quickArguments, sampleArguments } from './callable-tools.js';
import {
  type CallableTool,
  type Facts,
  type FailedList,
  hasCapability,
  type WalkthroughStop,
} from './facts.js';

export interface WalkthroughOptions extends Consent {
  /** Arguments by tool name, for tools whose schema is not enough. */
  readonly args: Readonly<Record<string, JsonObject>>;
  /** The callable tools that the survey calls. Default: all. */
  readonly visit?: readonly string[] | undefined;
  /** The timeout of one request of the survey, which is then cancelled. */
  readonly stopMs: number;
  /** Receives the known faults of the server. */
  readonly knownFaults: KnownFaults;
  /** Checks whether the server is gone, after a call without an answer. */
  readonly isGone: (after: string) => Promise<boolean>;
}

/** Requests all lists, resources and prompts, and calls the permitted tools. All checks may judge the replies. */
export async function walkThrough(
  conversation: CheckConversation,
  options: WalkthroughOptions,
): Promise<Facts> {
  conversation.answerWith(answerPolitely);
  const failedLists: FailedList[] = [];
  const failed = (method: string, reply: Reply) => {
    if (reply.kind === 'silence' && conversation.isOpen)
      options.knownFaults.silent.add(`${conversation.era} ${method}`);
    failedLists.push({
      method,
      ...(reply.kind === 'error' && { code: reply.error.code }),
      said: describe(reply),
    });
  };
  const tools = await listAll(conversation, 'tools', 'tools/list', 'tools', failed);
  const resources = await listAll(conversation, 'resources', 'resources/list', 'resources', failed);
  const templates = await listAll(
    conversation,
    'resources',
    'resources/templates/list',
    'resourceTemplates',
    failed,
  );
  const prompts = await listAll(conversation, 'prompts', 'prompts/list', 'prompts', failed);
  const hasLooseErrors = await findLooseErrors(conversation);
  if (hasLooseErrors) options.knownFaults.looseErrors.add(conversation.era);
  const callable = tools
    .filter((tool) => objectionTo(tool, options) === undefined)
    .map((tool) => callableOf(tool, options));
  const walkthrough: WalkthroughStop[] = [];
  let token = 1000;
  const visit = async (method: string, params: JsonObject) => {
    walkthrough.push(await stopAt(conversation, method, params, ++token, options.stopMs));
  };
  for (const resource of resources.slice(0, MOST_OF_A_KIND)) {
    if (typeof resource['uri'] === 'string') await visit('resources/read', { uri: resource['uri'] });
  }
  for (const prompt of prompts.slice(0, MOST_OF_A_KIND)) {
    if (typeof prompt['name'] === 'string') {
      await visit('prompts/get', { name: prompt['name'], arguments: promptArguments(prompt) });
    }
  }
  let killedBy: string | undefined;
  const visited = callable.filter(({ name }) => options.visit?.includes(name) ?? true);
  for (const { name, args } of visited.slice(0, MOST_TOOLS)) {
    await visit('tools/call', { name, arguments: args });
    const { reply } = walkthrough.at(-1)!;
    if (reply.kind !== 'silence' && conversation.isOpen) continue;
    // If the connection was refused, the call before this one ended the server.
    const before = walkthrough.at(-2);
    const isLate =
      reply.kind === 'silence' && /ECONNREFUSED/.test(reply.why) && before?.method === 'tools/call';
    const culprit = isLate ? String(before.params['name']) : name;
    const isGone = await options.isGone(`tools/call of ${culprit}`);
    if (isGone || !conversation.isOpen) killedBy = culprit;
    if (killedBy !== undefined) break;
  }
  const { era, revision, hello, capabilities } = conversation;
  return {
    era,
    revision,
    isSse: conversation.isSse === true,
    hello,
    capabilities,
    serverInfo: serverInfoOf(hello),
    tools,
    resources,
    templates,
    prompts,
    failedLists,
    hasLooseErrors,
    // A tool that ended the server is not called again.
    callable: callable.filter(({ name }) => name !== killedBy),
    killedBy,
    objections: [
      ...tools.flatMap((tool) => objectionTo(tool, options) ?? []),
      ...(killedBy === undefined ? [] : [`${killedBy} ended the server when it was called`]),
    ],
    walkthrough,
  };
}

/** All pages, up to a limit: a list of the server may never end. */
async function listAll(
  conversation: CheckConversation,
  capability: string,
  method: string,
  member: string,
  failed: (method: string, reply: Reply) => void,
): Promise<JsonObject[]> {
  if (!hasCapability(conversation.capabilities, capability)) return [];
  const items: JsonObject[] = [];
  let cursor: unknown;
  for (let page = 0; page < MOST_PAGES; page++) {
    const reply = await conversation.request(method, cursor === undefined ? {} : { cursor });
    // Some servers announce resources and do not implement templates. Clients tolerate it.
    if (reply.kind !== 'result' && page === 0 && !isUnknownMethod(reply)) failed(method, reply);
    if (reply.kind !== 'result' || !Array.isArray(reply.result[member])) break;
    items.push(...reply.result[member].filter(isJsonObject));
    cursor = reply.result['nextCursor'];
    if (cursor === undefined || cursor === null) break;
  }
  return items;
}

function isUnknownMethod(reply: Reply): boolean {
  return reply.kind === 'error' && reply.error.code === -32601;
}

function describe(reply: Reply): string {
  if (reply.kind === 'error') return `error ${reply.error.code}: ${reply.error.message}`;
  return reply.kind === 'silence' ? reply.why : 'a result';
}

/** Requests an unknown method. If only an error without the id of the request comes, the server loses ids. */
async function findLooseErrors(conversation: CheckConversation): Promise<boolean> {
  if (!conversation.peer || !conversation.isOpen) return false;
  const from = conversation.transcript.frames.length;
  const { kind, id } = await conversation.request('isthmus-check/unknown', {});
  if (kind !== 'silence') return false;
  return conversation.transcript.frames
    .slice(from)
    .some((frame) => frame.from === 'server' && frame.kind === 'error' && membersOf(frame)['id'] !== id);
}

async function stopAt(
  conversation: CheckConversation,
  method: string,
  params: JsonObject,
  progressToken: number,
  ms: number,
): Promise<WalkthroughStop> {
  const from = conversation.transcript.frames.length;
  const pending = conversation.start(method, params, {
    progressToken,
    ms,
    ...(conversation.era === 'modern' && { logLevel: 'debug' }),
  });
  const reply = await pending.reply;
  if (reply.kind === 'silence' && conversation.isOpen)
    await pending.cancel('it takes too long').catch(() => {});
  const answers = politeAnswers(reply);
  // The server may hold resources for a round until it is answered.
  if (answers) await conversation.request(method, { ...params, ...answers }, { ms });
  const questions = conversation.transcript.frames
    .slice(from)
    .filter((frame) => frame.from === 'server' && frame.kind === 'request' && frame.method !== 'ping');
  return { method, params, reply, progressToken, questions };
}

/** The additional params of a modern retry that answers the questions of the server. */
function politeAnswers(reply: Reply): JsonObject | undefined {
  if (reply.kind !== 'result' || reply.result['resultType'] !== 'input_required') return undefined;
  const { inputRequests, requestState } = reply.result;
  const asked = Object.entries(isJsonObject(inputRequests) ? inputRequests : {});
  const answers = asked.flatMap(([key, question]) => {
    const method = isJsonObject(question) ? String(question['method']) : '';
    const answer = answerPolitely({ method });
    return 'result' in answer ? [[key, answer.result] as const] : [];
  });
  return {
    inputResponses: Object.fromEntries(answers),
    ...(requestState !== undefined && { requestState }),
  };
}

/** A user who declines, a model with a short answer, and no roots. */
export function answerPolitely({ method }: Pick<Frame, 'method'>): ServerAnswer {
  switch (method) {
    case 'elicitation/create':
      return { result: { action: 'decline' } };
    case 'sampling/createMessage':
      return { result: { role: 'assistant', content: { type: 'text', text: 'Hello.' }, model: 'none' } };
    case 'roots/list':
      return { result: { roots: [] } };
    default:
      return { error: { code: -32601, message: `Unknown method: ${method}` } };
  }
}

function callableOf(tool: JsonObject, { args }: WalkthroughOptions): CallableTool {
  const name = String(tool['name']);
  return { name, tool, args: args[name] ?? quickArguments(tool) ?? sampleArguments(tool['inputSchema']) };
}

function promptArguments(prompt: JsonObject): JsonObject {
  const known = Array.isArray(prompt['arguments']) ? prompt['arguments'].filter(isJsonObject) : [];
  return Object.fromEntries(
    known
      .filter((each) => each['required'] === true)
      .map((each) => String(each['name']))
      .map((name) => [name, /ur[il]$/i.test(name) ? 'https://example.com/' : 'hello']),
  );
}

function serverInfoOf(hello: JsonObject): JsonObject | undefined {
  const meta = hello['_meta'];
  const info = hello['serverInfo'] ?? (isJsonObject(meta) ? meta[META.serverInfo] : undefined);
  return isJsonObject(info) ? info : undefined;
}

const MOST_PAGES = 50;
const MOST_OF_A_KIND = 8;
const MOST_TOOLS = 40;
