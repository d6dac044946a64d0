import { type ClientV2, connectV2, type VersionNegotiationMode } from '../../support/official-v2.js';
import { EVERYTHING, friendlyAnswers, type Peer, type Question, type Session, WATCHED } from './peer.js';
import { addressOf } from './recording.js';
import type { Json } from './revision.js';

const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

/** `@modelcontextprotocol/client` 2.x in one of its three modes. */
export function officialV2(mode: VersionNegotiationMode, expected: Pick<Peer, 'era' | 'revision'>): Peer {
  const named = typeof mode === 'string' ? mode : `pinned to ${mode.pin}`;
  return {
    title: `the official v2 client, ${named}`,
    ...expected,
    async connect(recording, { capabilities = EVERYTHING } = {}) {
      let answers = friendlyAnswers();
      const questions: Question[] = [];
      const notifications: Json[] = [];
      const complaints: Error[] = [];
      const prepare = (client: ClientV2) => {
        client.onerror = (error) => complaints.push(error);

        const ask = (request: { method: string; params?: object }) => {
          questions.push({ method: request.method, params: (request.params ?? {}) as Json });
          return (request.params ?? {}) as Json;
        };
        if (capabilities['elicitation'])
          client.setRequestHandler('elicitation/create', (request) => answers.elicit(ask(request)));
        if (capabilities['sampling'])
          client.setRequestHandler('sampling/createMessage', (request) => ({
            model: 'interop',
            role: 'assistant',
            content: { type: 'text', text: answers.sample(ask(request)) },
          }));
        if (capabilities['roots'])
          client.setRequestHandler('roots/list', (request) => {
            ask(request);
            return { roots: answers.roots() };
          });
        for (const method of WATCHED) {
          client.setNotificationHandler(method, (notification) => {
            notifications.push(notification as unknown as Json);
          });
        }
      };
      const { client } = await connectV2(addressOf(recording), {
        ...{ name: 'interop-v2', capabilities, mode, stderr: 'inherit', prepare },
        ...(recording.http && { fetch: recording.http.fetch }),
      });

      const session: Session = {
        get revision() {
          return client.getNegotiatedProtocolVersion();
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
        tools: async () => (await client.listTools()).tools as unknown as Json[],
        resources: async () => (await client.listResources()).resources as unknown as Json[],
        templates: async () => (await client.listResourceTemplates()).resourceTemplates as unknown as Json[],
        prompts: async () => (await client.listPrompts()).prompts as unknown as Json[],
        async call(name, args, { logLevel, ...options } = {}) {
          const params = { name, arguments: args, ...(logLevel && { _meta: { [LOG_LEVEL]: logLevel } }) };
          const { content, structuredContent, isError } = await client.callTool(params as never, {
            ...options,
            onprogress: options.onprogress && ((progress) => options.onprogress?.({ ...progress })),
          });
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
          if (client.getProtocolEra() === 'legacy') {
            await client.subscribeResource({ uri });
            return { stop: async () => void (await client.unsubscribeResource({ uri })) };
          }
          const subscription = await client.listen({ toolsListChanged: true, resourceSubscriptions: [uri] });
          return { stop: () => subscription.close() };
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
}
