import {
  Client,
  type ClientOptions,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { EVERYTHING, friendlyAnswers, type Peer, type Question, type Session, WATCHED } from './peer.js';
import type { Recording } from './recording.js';
import type { Json } from './revision.js';

const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

/** `@modelcontextprotocol/client` 2.x in one of its three modes. */
export function officialV2(mode: VersionNegotiationMode, expected: Pick<Peer, 'era' | 'revision'>): Peer {
  const named = typeof mode === 'string' ? mode : `pinned to ${mode.pin}`;
  return {
    title: `the official v2 client, ${named}`,
    ...expected,
    async connect(recording, { capabilities = EVERYTHING } = {}) {
      const client = new Client(
        { name: 'interop-v2', version: '2.0.0' },
        { capabilities: capabilities as ClientOptions['capabilities'], versionNegotiation: { mode } },
      );
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
        client.setRequestHandler('elicitation/create', (request) => session.answers.elicit(ask(request)));
      if (capabilities['sampling'])
        client.setRequestHandler('sampling/createMessage', (request) => ({
          model: 'interop',
          role: 'assistant',
          content: { type: 'text', text: session.answers.sample(ask(request)) },
        }));
      if (capabilities['roots'])
        client.setRequestHandler('roots/list', (request) => {
          ask(request);
          return { roots: session.answers.roots() };
        });
      for (const method of WATCHED) {
        client.setNotificationHandler(method, (notification) => {
          notifications.push(notification as unknown as Json);
        });
      }

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
        answers,
        questions,
        notifications,
        complaints,
        close: () => client.close(),
      };
      const transport = transportTo(recording);
      try {
        await client.connect(transport);
      } catch (error) {
        await client.close();
        throw error;
      }
      return session;
    },
  };
}

function transportTo({ command, args, http }: Recording): Parameters<Client['connect']>[0] {
  if (!http) return new StdioClientTransport({ command, args, stderr: 'inherit' });
  const { kind, url, fetch } = http;
  return kind === 'sse'
    ? new SSEClientTransport(url, { fetch })
    : new StreamableHTTPClientTransport(url, { fetch });
}
