import {
  type Answers,
  type CallToolResult,
  type Change,
  type Changes,
  type Client,
  type CompleteResult,
  type ConnectOptions,
  type Connector,
  connect,
  type Era,
  type EraVerdict,
  type GetPromptResult,
  type InputRequiredResult,
  IsthmusError,
  type ListPromptsResult,
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  type ListToolsResult,
  memory,
  type Prompt,
  type ReadResourceResult,
  type Resource,
  type ResourceTemplate,
  type ServerFacts,
  stdio,
  type Tool,
} from '@isthmus/sdk';
import type * as V2 from '@modelcontextprotocol/client';
import type * as V1 from '@modelcontextprotocol/sdk/types.js';

/** Compile-time tests, checked by `tsc`: what a user of the client sees. Nothing here runs. */

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Fails to compile unless the two types are the same; `any` is the same only as `any`. */
function same<A, B>(..._proof: Same<A, B> extends true ? [] : [never]): void {}
/** Fails to compile unless a value of ours can be used where the other type is asked for. */
function fits<Ours, Theirs>(..._proof: [Ours] extends [Theirs] ? [] : [never]): void {}

// @ts-expect-error the check itself must be able to fail
same<string, string | undefined>();
// @ts-expect-error the check itself must be able to fail
fits<string | undefined, string>();

export async function connecting(connector: Connector): Promise<void> {
  same<Awaited<ReturnType<typeof connect>>, Client>();
  await connect(connector);
  await connect(stdio({ command: 'server', args: ['--flag'], env: { A: 'b' }, maxLineBytes: 1 }));
  await connect(memory(), { mode: 'auto' });
  await connect(memory(), { mode: '2025-06-18' });
  // @ts-expect-error to connect, stdio needs a command; without one it serves
  await connect(stdio());
  // @ts-expect-error a misspelt option
  await connect(connector, { timeout: 5 });
  // @ts-expect-error a client has a version
  await connect(connector, { info: { name: 'me' } });
  // @ts-expect-error there is no such era
  const wrong: Era = 'ancient';
  void wrong;
  const options: ConnectOptions = { cache: false, reconnect: false, principal: 'ada', maxRounds: 3 };
  await using client = await connect(connector, options);
  same<typeof client.verdict, EraVerdict>();
  same<typeof client.era, 'legacy' | 'modern'>();
  same<typeof client.server, ServerFacts>();
  same<typeof client.closed, Promise<void>>();
  // @ts-expect-error what the server says of itself is not ours to change
  client.server.capabilities = {};
}

export async function lists(client: Client): Promise<void> {
  same<Awaited<ReturnType<typeof client.listTools>>, Tool[]>();
  same<Awaited<ReturnType<typeof client.listResources>>, Resource[]>();
  same<Awaited<ReturnType<typeof client.listResourceTemplates>>, ResourceTemplate[]>();
  same<Awaited<ReturnType<typeof client.listPrompts>>, Prompt[]>();
  same<Awaited<ReturnType<typeof client.listToolsPage>>, ListToolsResult>();
  same<Awaited<ReturnType<typeof client.listResourcesPage>>, ListResourcesResult>();
  same<Awaited<ReturnType<typeof client.listResourceTemplatesPage>>, ListResourceTemplatesResult>();
  same<Awaited<ReturnType<typeof client.listPromptsPage>>, ListPromptsResult>();
  let cursor: string | undefined;
  do {
    const page = await client.listToolsPage(cursor, { fresh: true });
    for (const { name } of page.tools) same<typeof name, string>();
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  // @ts-expect-error cursors are opaque strings
  await client.listToolsPage(2);
}

export async function calls(client: Client): Promise<void> {
  const result = await client.callTool('t', { a: 1 });
  same<typeof result, CallToolResult>();
  for (const block of result.content) {
    if (block.type === 'text') same<typeof block.text, string>();
    if (block.type === 'image') same<typeof block.data, string>();
    if (block.type === 'resource_link') same<typeof block.uri, string>();
  }
  same<typeof result.structuredContent, CallToolResult['structuredContent']>();
  // @ts-expect-error arguments are an object
  await client.callTool('t', [1]);
  // @ts-expect-error a tool has a name
  await client.callTool();

  await client.callTool('t', undefined, {
    signal: new AbortController().signal,
    timeoutMs: 1,
    maxTimeoutMs: 2,
    logLevel: 'debug',
    onProgress: (update) => {
      same<typeof update.progress, number>();
      same<typeof update.total, number | undefined>();
      same<typeof update.message, string | undefined>();
    },
    onLog: (entry) => {
      same<typeof entry.data, unknown>();
      same<typeof entry.logger, string | undefined>();
    },
  });
  // @ts-expect-error there is no such level
  await client.callTool('t', {}, { logLevel: 'loud' });
  // @ts-expect-error there is no such level
  await client.setLogLevel('loud');

  const prompt = await client.getPrompt('p', { name: 'Ada' });
  same<typeof prompt, GetPromptResult>();
  // @ts-expect-error arguments of prompts are strings
  await client.getPrompt('p', { count: 1 });
  const read = await client.readResource('memo://1');
  same<typeof read, ReadResourceResult>();
  const [contents] = read.contents;
  if (contents && 'text' in contents) same<typeof contents.text, string>();
  else if (contents) same<typeof contents.blob, string>();
  const completion = await client.complete({
    ref: { type: 'ref/prompt', name: 'p' },
    argument: { name: 'a', value: '' },
  });
  same<typeof completion, CompleteResult['completion']>();
  same<typeof completion.values, string[]>();
  // @ts-expect-error there is no such reference
  await client.complete({ ref: { type: 'ref/tool', name: 'p' }, argument: { name: 'a', value: '' } });
  const anything = await client.request('example/do', { a: 1 });
  same<typeof anything, Record<string, unknown>>();
}

/** Only who asks for rounds has to deal with them. */
export async function manualMode(client: Client): Promise<void> {
  const tool = await client.callTool('t', {}, { manual: true });
  same<typeof tool, CallToolResult | InputRequiredResult>();
  // @ts-expect-error it may be a round, which has no content
  tool.content;
  if (tool.resultType === 'input_required') {
    same<typeof tool, InputRequiredResult>();
    for (const [key, request] of Object.entries(tool.inputRequests ?? {})) {
      same<typeof key, string>();
      if (request.method === 'elicitation/create') same<typeof request.params.message, string>();
      if (request.method === 'sampling/createMessage') same<typeof request.params.maxTokens, number>();
    }
    const next = await client.callTool(
      't',
      {},
      {
        manual: true,
        inputResponses: { q: { action: 'accept', content: { n: 1 } } },
        requestState: tool.requestState,
      },
    );
    same<typeof next, CallToolResult | InputRequiredResult>();
  } else same<typeof tool, CallToolResult>();
  const prompt = await client.getPrompt('p', undefined, { manual: true });
  same<typeof prompt, GetPromptResult | InputRequiredResult>();
  const read = await client.readResource('u', { manual: true });
  same<typeof read, ReadResourceResult | InputRequiredResult>();
  // @ts-expect-error answers to a round make sense in manual mode only
  await client.callTool('t', {}, { requestState: 's' });
  // @ts-expect-error lists have no rounds
  await client.listTools({ manual: true });
  // @ts-expect-error there is no such action
  await client.callTool('t', {}, { manual: true, inputResponses: { q: { action: 'maybe' } } });
}

export async function changes(client: Client): Promise<void> {
  await using news = await client.listen({ tools: true, prompts: false, uris: ['memo://1'] });
  same<typeof news, Changes>();
  same<typeof news.honoured.toolsListChanged, boolean | undefined>();
  for await (const change of news) {
    same<typeof change, Change>();
    switch (change.kind) {
      case 'tools':
      case 'prompts':
      case 'resources':
        // @ts-expect-error only a resource has a URI
        change.uri;
        break;
      case 'resource':
        same<typeof change.uri, string>();
        break;
      case 'foreign':
        same<typeof change.method, string>();
        break;
      default:
        same<typeof change, never>();
    }
  }
  // @ts-expect-error there is no such news
  await client.listen({ weather: true });
}

export const answers: Answers = {
  elicit: (question, { signal }) => {
    same<typeof signal, AbortSignal>();
    if (question.mode === 'url') same<typeof question.url, string>();
    return { action: 'accept', content: { name: 'Ada', tags: ['a'] } };
  },
  urls: true,
  sample: async ({ messages, maxTokens }) => {
    same<typeof maxTokens, number>();
    return { role: 'assistant', content: { type: 'text', text: String(messages.length) }, model: 'm' };
  },
  tools: false,
  roots: async () => [{ uri: 'file:///home' }],
};
export const wrongAnswers: Answers = {
  // @ts-expect-error there is no such action
  elicit: () => ({ action: 'maybe' }),
  // @ts-expect-error a sample names its model
  sample: () => ({ role: 'assistant', content: { type: 'text', text: 'x' } }),
  // @ts-expect-error a root has a URI
  roots: [{ name: 'home' }],
};

export function failures(error: unknown): 'retry' | 'stop' {
  if (!(error instanceof IsthmusError)) return 'stop';
  same<typeof error.sent, 'no' | 'maybe' | undefined>();
  // @ts-expect-error there is no such code
  if (error.code === 'NO_IDEA') return 'stop';
  return error.code === 'CONNECTION_CLOSED' && error.sent === 'no' ? 'retry' : 'stop';
}

/** What our client gives can be handed to code that was written for the official ones. */
export function official(): void {
  fits<CallToolResult, V2.CallToolResult>();
  fits<ReadResourceResult, V2.ReadResourceResult>();
  fits<GetPromptResult, V2.GetPromptResult>();
  fits<CompleteResult, V2.CompleteResult>();
  fits<ListToolsResult, V2.ListToolsResult>();
  fits<ListResourcesResult, V2.ListResourcesResult>();
  fits<ListResourceTemplatesResult, V2.ListResourceTemplatesResult>();
  fits<ListPromptsResult, V2.ListPromptsResult>();
  fits<Tool, V2.Tool>();
  fits<Resource, V1.Resource>();
  fits<Prompt, V1.Prompt>();
  fits<ResourceTemplate, V1.ResourceTemplate>();
  fits<ReadResourceResult, V1.ReadResourceResult>();
  fits<GetPromptResult, V1.GetPromptResult>();
  fits<CompleteResult, V1.CompleteResult>();
  fits<ListPromptsResult, V1.ListPromptsResult>();
}
