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
import { type ClientV1, connectV1, type TransportV1 } from '../../support/official-v1.js';
import { EVERYTHING, friendlyAnswers, type Peer, type Question, type Session } from './peer.js';
import { addressOf } from './recording.js';
import type { Json } from './revision.js';

/** `@modelcontextprotocol/sdk` 1.x, which knows the legacy era only. */
export const officialV1: Peer = {
  title: 'the official v1 client',
  era: 'legacy',
  revision: '2025-11-25',
  async connect(recording, { capabilities = EVERYTHING } = {}) {
    let answers = friendlyAnswers();
    const questions: Question[] = [];
    const notifications: Json[] = [];
    const complaints: Error[] = [];
    const prepare = (client: ClientV1, transport: TransportV1) => {
      client.onerror = (error) => complaints.push(error);

      const ask = (request: { method: string; params?: object }) => {
        questions.push({ method: request.method, params: (request.params ?? {}) as Json });
        return (request.params ?? {}) as Json;
      };
      if (capabilities['elicitation'])
        client.setRequestHandler(ElicitRequestSchema, (request) => answers.elicit(ask(request)));
      if (capabilities['sampling'])
        client.setRequestHandler(CreateMessageRequestSchema, (request) => ({
          model: 'interop',
          role: 'assistant',
          content: { type: 'text', text: answers.sample(ask(request)) },
        }));
      if (capabilities['roots'])
        client.setRequestHandler(ListRootsRequestSchema, (request) => {
          ask(request);
          return { roots: answers.roots() };
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
      const tellTransport = transport.setProtocolVersion?.bind(transport);
      // The v1 client tells the agreed revision to its transport only.
      Object.assign(transport, {
        setProtocolVersion: (agreed: string) => {
          revision = agreed;
          tellTransport?.(agreed);
        },
      });
    };
    let revision: string | undefined;
    const { client } = await connectV1(addressOf(recording), {
      ...{ name: 'interop-v1', capabilities, stderr: 'inherit', prepare },
      ...(recording.http && { fetch: recording.http.fetch }),
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
      get answers() {
        return answers;
      },
      set answers(given) {
        answers = given;
      },
      questions,
      notifications,
      complaints,
      close: () => client.close(),
    };
    return session;
  },
};

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
