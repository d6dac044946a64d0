import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolResultSchema,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import {
  type Address,
  CAPABILITIES,
  type ClientKind,
  friendlyAnswers,
  type Json,
  keepComplaints,
  ROOTS,
  type Session,
  sampled,
} from './session.js';

/** `@modelcontextprotocol/sdk` 1.x, which knows the legacy era only. */
export const officialV1: ClientKind = {
  name: 'v1',
  title: 'official v1',
  eras: ['legacy'],
  async connect(address, env) {
    const client = new Client({ name: 'matrix-v1', version: '1.0.0' }, { capabilities: CAPABILITIES });
    const complaints = keepComplaints(client);
    const questions: Json[] = [];
    const notifications: { method: string; params?: Json }[] = [];
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      questions.push(params as Json);
      return session.answers.elicit(params.message) as never;
    });
    client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
      questions.push(params as Json);
      return sampled(session.answers, params);
    });
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: ROOTS }));
    for (const schema of [
      LoggingMessageNotificationSchema,
      ToolListChangedNotificationSchema,
      ResourceListChangedNotificationSchema,
      ResourceUpdatedNotificationSchema,
    ]) {
      client.setNotificationHandler(schema, (notification) => {
        notifications.push(notification as (typeof notifications)[number]);
      });
    }
    const transport = transportTo(address, env);
    let revision: string | undefined;
    // The v1 client tells the agreed revision to its transport only.
    const tellTransport = transport.setProtocolVersion?.bind(transport);
    transport.setProtocolVersion = (agreed) => {
      revision = agreed;
      tellTransport?.(agreed);
    };

    const session: Session = {
      era: 'legacy',
      get revision() {
        return revision;
      },
      get serverName() {
        return client.getServerVersion()?.name;
      },
      get instructions() {
        return client.getInstructions();
      },
      tools: async () => (await client.listTools()).tools.map(({ name }) => name),
      resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
      templates: async () =>
        (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
      prompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
      call: async (name, args, options) =>
        CallToolResultSchema.parse(
          await client.callTool({ name, arguments: args }, CallToolResultSchema, options as never),
        ) as Awaited<ReturnType<Session['call']>>,
      read: async (uri) => (await client.readResource({ uri })).contents as Json[],
      prompt: async (name, args) => (await client.getPrompt({ name, arguments: args })).messages as Json[],
      complete: async (ref, name, value) =>
        (await client.complete({ ref, argument: { name, value } })).completion.values,
      async watch(what) {
        if ('list' in what) return { stop: async () => {} };
        await client.subscribeResource(what);
        return { stop: async () => void (await client.unsubscribeResource(what)) };
      },
      async setLogLevel(level) {
        await client.setLoggingLevel(level);
      },
      answers: friendlyAnswers(),
      questions,
      notifications,
      complaints,
      close: () => client.close(),
    };
    await client.connect(transport).catch(async (error: unknown) => {
      await client.close();
      throw error;
    });
    return session;
  },
};

function transportTo(address: Address, env: Record<string, string>): Transport {
  // Its types say `sessionId?: string` and mean that it may be undefined.
  if ('url' in address) return new StreamableHTTPClientTransport(new URL(address.url)) as Transport;
  const { command, args } = address;
  return new StdioClientTransport({
    command,
    args: [...args],
    env: { ...getDefaultEnvironment(), ...env },
    stderr: 'ignore',
  });
}
