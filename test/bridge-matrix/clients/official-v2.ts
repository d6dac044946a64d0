import { type ClientV2, connectV2, type VersionNegotiationMode } from '../../support/official-v2.js';
import {
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
      let complaints: readonly string[] = [];
      let answers = friendlyAnswers();
      const questions: Json[] = [];
      const notifications: { method: string; params?: Json }[] = [];
      let logLevel: LogLevel | undefined;
      const prepare = (client: ClientV2) => {
        complaints = keepComplaints(client);
        client.setRequestHandler('elicitation/create', ({ params }) => {
          questions.push(params as Json);
          return answers.elicit(params.message) as never;
        });
        client.setRequestHandler('sampling/createMessage', ({ params }) => {
          questions.push(params as Json);
          return sampled(answers, params);
        });
        client.setRequestHandler('roots/list', () => ({ roots: ROOTS }));
        for (const method of KEPT) {
          client.setNotificationHandler(method, (notification) => {
            notifications.push(notification as (typeof notifications)[number]);
          });
        }
      };
      const { client } = await connectV2(address, {
        ...{ name: 'matrix-v2', capabilities: CAPABILITIES, mode, env, prepare },
      });

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
}
