import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolResultSchema,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { EVERYTHING, friendlyAnswers, type Peer, type Question, type Session } from './peer.js';
import type { Recording } from './recording.js';
import type { Json } from './revision.js';

/** `@modelcontextprotocol/sdk` 1.x, which knows the legacy era only. */
export const officialV1: Peer = {
  title: 'the official v1 client',
  era: 'legacy',
  revision: '2025-11-25',
  async connect(recording, { capabilities = EVERYTHING } = {}) {
    const client = new Client({ name: 'interop-v1', version: '1.0.0' }, { capabilities });
    const answers = friendlyAnswers();
    const questions: Question[] = [];
    const notifications: Json[] = [];
    const complaints: Error[] = [];
    client.onerror = (error) => complaints.push(error);

    const ask = (request: { method: string; params?: object }) => {
      questions.push({ method: request.method, params: (request.params ?? {}) as Json });
      return (request.params ?? {}) as Json;
    };
    if (capabilities['elicitation'])
      client.setRequestHandler(ElicitRequestSchema, (request) => session.answers.elicit(ask(request)));
    if (capabilities['sampling'])
      client.setRequestHandler(CreateMessageRequestSchema, (request) => ({
        model: 'interop',
        role: 'assistant',
        content: { type: 'text', text: session.answers.sample(ask(request)) },
      }));
    if (capabilities['roots'])
      client.setRequestHandler(ListRootsRequestSchema, (request) => {
        ask(request);
        return { roots: session.answers.roots() };
      });
    for (const schema of [
      LoggingMessageNotificationSchema,
      ToolListChangedNotificationSchema,
      PromptListChangedNotificationSchema,
      ResourceListChangedNotificationSchema,
      ResourceUpdatedNotificationSchema,
    ]) {
      client.setNotificationHandler(schema, (notification) => {
        notifications.push(notification as unknown as Json);
      });
    }
    const transport = transportTo(recording);
    const tellTransport = transport.setProtocolVersion?.bind(transport);
    let revision: string | undefined;
    // The v1 client tells the agreed revision to its transport only.
    Object.assign(transport, {
      setProtocolVersion: (agreed: string) => {
        revision = agreed;
        tellTransport?.(agreed);
      },
    });

    const session: Session = {
      get revision() {
        return revision;
      },
      get serverInfo() {
        return client.getServerVersion() as Json | undefined;
      },
      get capabilities() {
        return client.getServerCapabilities() as Json | undefined;
      },
      get instructions() {
        return client.getInstructions();
      },
      tools: () => allPages((cursor) => client.listTools({ cursor }), 'tools'),
      resources: () => allPages((cursor) => client.listResources({ cursor }), 'resources'),
      templates: () => allPages((cursor) => client.listResourceTemplates({ cursor }), 'resourceTemplates'),
      prompts: () => allPages((cursor) => client.listPrompts({ cursor }), 'prompts'),
      async call(name, args, { signal, onprogress } = {}) {
        const result = await client.callTool({ name, arguments: args }, CallToolResultSchema, {
          signal,
          onprogress: onprogress && ((progress) => onprogress({ ...progress })),
        });
        const { content, structuredContent, isError } = CallToolResultSchema.parse(result);
        return {
          content: content as unknown as Json[],
          ...(structuredContent !== undefined && { structuredContent }),
          ...(isError !== undefined && { isError }),
        };
      },
      read: async (uri) => (await client.readResource({ uri })).contents as unknown as Json[],
      prompt: async (name, args) =>
        (await client.getPrompt({ name, arguments: args })).messages as unknown as Json[],
      complete: async (ref, name, value) =>
        (await client.complete({ ref, argument: { name, value } })).completion.values,
      async subscribe(uri) {
        await client.subscribeResource({ uri });
        return { stop: async () => void (await client.unsubscribeResource({ uri })) };
      },
      async setLogLevel(level) {
        await client.setLoggingLevel(level);
      },
      answers,
      questions,
      notifications,
      complaints,
      close: () => client.close(),
    };
    try {
      await client.connect(transport);
    } catch (error) {
      await client.close();
      throw error;
    }
    return session;
  },
};

function transportTo({ command, args, http }: Recording): Transport {
  if (!http) return new StdioClientTransport({ command, args, stderr: 'inherit' });
  const { kind, url, fetch } = http;
  // Its types say `sessionId?: string` and mean that it may be undefined.
  return (
    kind === 'sse'
      ? new SSEClientTransport(url, { fetch })
      : new StreamableHTTPClientTransport(url, { fetch })
  ) as Transport;
}

/** The v1 client gives one page per call. */
async function allPages(
  page: (cursor: string | undefined) => Promise<{ nextCursor?: string | undefined }>,
  key: string,
): Promise<Json[]> {
  const items: Json[] = [];
  let cursor: string | undefined;
  do {
    const result = await page(cursor);
    items.push(...((result as unknown as Record<string, Json[]>)[key] ?? []));
    cursor = result.nextCursor;
  } while (cursor !== undefined);
  return items;
}
