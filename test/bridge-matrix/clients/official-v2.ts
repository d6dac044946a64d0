import {
  Client,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import {
  type Address,
  CAPABILITIES,
  type ClientKind,
  friendlyAnswers,
  type Json,
  KEPT,
  keepComplaints,
  type LogLevel,
  ROOTS,
  type Session,
  sampled,
} from './session.js';

/** `@modelcontextprotocol/client` 2.x in one of its three modes. */
export function officialV2({
  mode,
  ...kind
}: Omit<ClientKind, 'connect'> & { mode: VersionNegotiationMode }): ClientKind {
  return {
    ...kind,
    async connect(address, env) {
      const client = new Client(
        { name: 'matrix-v2', version: '2.0.0' },
        { capabilities: CAPABILITIES, versionNegotiation: { mode } },
      );
      const complaints = keepComplaints(client);
      const questions: Json[] = [];
      const notifications: { method: string; params?: Json }[] = [];
      let logLevel: LogLevel | undefined;
      client.setRequestHandler('elicitation/create', ({ params }) => {
        questions.push(params as Json);
        return session.answers.elicit(params.message) as never;
      });
      client.setRequestHandler('sampling/createMessage', ({ params }) => {
        questions.push(params as Json);
        return sampled(session.answers, params);
      });
      client.setRequestHandler('roots/list', () => ({ roots: ROOTS }));
      for (const method of KEPT) {
        client.setNotificationHandler(method, (notification) => {
          notifications.push(notification as (typeof notifications)[number]);
        });
      }

      const session: Session = {
        get era() {
          return client.getProtocolEra() ?? 'legacy';
        },
        get revision() {
          return client.getNegotiatedProtocolVersion();
        },
        get serverName() {
          return client.getServerVersion()?.name;
        },
        get instructions() {
          return client.getInstructions();
        },
        tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
        resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
        templates: async () =>
          (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
        prompts: async () => (await client.listPrompts()).prompts.map((prompt) => prompt.name),
        async call(tool, args, options) {
          const _meta = logLevel && { 'io.modelcontextprotocol/logLevel': logLevel };
          const result = await client.callTool({ name: tool, arguments: args, _meta }, options as never);
          return result as Awaited<ReturnType<Session['call']>>;
        },
        read: async (uri) => (await client.readResource({ uri })).contents as Json[],
        prompt: async (prompt, args) =>
          (await client.getPrompt({ name: prompt, arguments: args })).messages as unknown as Json[],
        complete: async (ref, argument, value) =>
          (await client.complete({ ref, argument: { name: argument, value } })).completion.values,
        async watch(what) {
          if (session.era === 'modern') {
            const filter =
              'uri' in what
                ? { resourceSubscriptions: [what.uri] }
                : what.list === 'tools'
                  ? { toolsListChanged: true }
                  : { resourcesListChanged: true };
            const subscription = await client.listen(filter);
            return { stop: () => subscription.close() };
          }
          if ('list' in what) return { stop: async () => {} };
          await client.subscribeResource(what);
          return { stop: async () => void (await client.unsubscribeResource(what)) };
        },
        async setLogLevel(level) {
          if (session.era === 'modern') logLevel = level;
          else await client.setLoggingLevel(level);
        },
        answers: friendlyAnswers(),
        questions,
        notifications,
        complaints,
        close: () => client.close(),
      };
      await client.connect(transportTo(address, env)).catch(async (error: unknown) => {
        await client.close();
        throw error;
      });
      return session;
    },
  };
}

function transportTo(address: Address, env: Record<string, string>): Parameters<Client['connect']>[0] {
  if ('url' in address) return new StreamableHTTPClientTransport(new URL(address.url));
  const { command, args } = address;
  return new StdioClientTransport({
    command,
    args: [...args],
    env: { ...getDefaultEnvironment(), ...env },
    stderr: 'ignore',
  });
}
