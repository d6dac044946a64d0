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
import { type ClientV1, connectV1, type TransportV1 } from '../../support/official-v1.js';
import {
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
    let complaints: readonly string[] = [];
    let answers = friendlyAnswers();
    const questions: Json[] = [];
    const notifications: { method: string; params?: Json }[] = [];
    const prepare = (client: ClientV1, transport: TransportV1) => {
      complaints = keepComplaints(client);
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
        questions.push(params as Json);
        return answers.elicit(params.message) as never;
      });
      client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
        questions.push(params as Json);
        return sampled(answers, params);
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
      // The v1 client tells the agreed revision to its transport only.
      const tellTransport = transport.setProtocolVersion?.bind(transport);
      transport.setProtocolVersion = (agreed) => {
        revision = agreed;
        tellTransport?.(agreed);
      };
    };
    let revision: string | undefined;
    const { client } = await connectV1(address, {
      ...{ name: 'matrix-v1', capabilities: CAPABILITIES, env, prepare },
    });

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
