import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { completable } from '@modelcontextprotocol/sdk/server/completable.js';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { SubscribeRequestSchema, UnsubscribeRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { listenOn, type Peer } from './peer.js';

export interface V1Peer extends Peer {
  readonly sessions: ReadonlySet<string>;
  /** Forgets all sessions, as a restart would. */
  forget(): void;
}

/** The official SDK v1 over Streamable HTTP, with sessions or without. */
export async function officialV1({ stateless = false } = {}): Promise<V1Peer> {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const sessions = new Set<string>();
  const handle = async (req: IncomingMessage, res: ServerResponse) => {
    const id = req.headers['mcp-session-id'];
    const known = typeof id === 'string' ? transports.get(id) : undefined;
    if (typeof id === 'string' && !known) {
      const error = { code: -32001, message: 'Session not found' };
      res
        .writeHead(404, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', error, id: null }));
      return;
    }
    if (known) return known.handleRequest(req, res);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: stateless ? undefined : () => randomUUID(),
      onsessioninitialized: (session) => {
        transports.set(session, transport);
        sessions.add(session);
      },
      onsessionclosed: (session) => {
        transports.delete(session);
        sessions.delete(session);
      },
    } as ConstructorParameters<typeof StreamableHTTPServerTransport>[0]);
    await createV1().connect(transport as never);
    return transport.handleRequest(req, res);
  };
  const peer = await listenOn((req, res) => void handle(req, res));
  return {
    ...peer,
    url: `${peer.url}/mcp`,
    sessions,
    forget() {
      for (const transport of transports.values()) void transport.close();
      transports.clear();
      sessions.clear();
    },
  };
}

/** The official SDK v1 over HTTP with SSE (2024-11-05). */
export async function officialV1Sse(): Promise<Peer> {
  const transports = new Map<string, SSEServerTransport>();
  const peer = await listenOn((req, res) => {
    const url = new URL(req.url ?? '/', 'http://localhost');
    if (req.method === 'GET' && url.pathname === '/sse') {
      const transport = new SSEServerTransport('/messages', res);
      transports.set(transport.sessionId, transport);
      res.on('close', () => transports.delete(transport.sessionId));
      void createV1().connect(transport);
    } else if (req.method === 'POST' && url.pathname === '/messages') {
      const transport = transports.get(url.searchParams.get('sessionId') ?? '');
      if (transport) void transport.handlePostMessage(req, res);
      else res.writeHead(404).end();
    } else
      res
        .writeHead(404, { 'content-type': 'text/html' })
        .end(`<pre>Cannot ${req.method} ${url.pathname}</pre>`);
  });
  return { ...peer, url: `${peer.url}/sse` };
}

let cancelled = 0;

function createV1(): McpServer {
  const server = new McpServer(
    { name: 'official-v1', version: '1.0.0' },
    { capabilities: { logging: {}, resources: { subscribe: true, listChanged: true } } },
  );
  const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });
  server.registerTool(
    'add',
    { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
    ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } }),
  );
  server.registerTool('fail', {}, () => {
    throw new Error('on purpose');
  });
  server.registerTool('report', {}, async (extra) => {
    const progressToken = extra._meta?.progressToken;
    for (const progress of [1, 2]) {
      if (progressToken !== undefined) {
        const params = { progressToken, progress, total: 2, message: `step ${progress}` };
        await extra.sendNotification({ method: 'notifications/progress', params });
      }
      const params = { level: 'warning' as const, data: { progress }, logger: 'reporter' };
      await extra.sendNotification({ method: 'notifications/message', params });
    }
    return text('reported');
  });
  server.registerTool('wait', {}, (extra) => {
    return new Promise((resolve) => {
      extra.signal.addEventListener('abort', () => {
        cancelled += 1;
        resolve(text('too late'));
      });
    });
  });
  server.registerTool('cancelled', {}, () => text(String(cancelled)));
  server.registerTool('ask_all', {}, async (extra) => {
    const related = { relatedRequestId: extra.requestId };
    const [answer, said, { roots }] = await Promise.all([
      server.server.elicitInput(
        { message: 'Who?', requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } } },
        related,
      ),
      server.server.createMessage(
        { messages: [{ role: 'user', content: { type: 'text', text: 'What?' } }], maxTokens: 10 },
        related,
      ),
      server.server.listRoots(undefined, related),
    ]);
    return text(`${answer.action} ${said.model} ${roots.length}`);
  });
  // Without a related request the question leaves on the standing stream.
  server.registerTool('ask_apart', {}, async () => {
    const answer = await server.server.elicitInput({
      message: 'Apart?',
      requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } },
    });
    return text(answer.action);
  });
  server.registerTool('grow', {}, () => {
    server.registerTool('grown', {}, () => text('grown'));
    return text('more');
  });
  const watched = new Set<string>();
  server.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    watched.add(params.uri);
    return {};
  });
  server.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    watched.delete(params.uri);
    return {};
  });
  server.registerTool('touch', { inputSchema: { uri: z.string() } }, async ({ uri }) => {
    if (watched.has(uri)) await server.server.sendResourceUpdated({ uri });
    return text('touched');
  });
  server.registerResource('memo', 'memo://1', { mimeType: 'text/plain' }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'one' }],
  }));
  server.registerResource('note', new ResourceTemplate('note://{name}', { list: undefined }), {}, (uri) => ({
    contents: [{ uri: uri.href, text: 'a note' }],
  }));
  server.registerPrompt(
    'greet',
    {
      argsSchema: {
        name: completable(z.string(), (value) => ['Ada', 'Alan'].filter((name) => name.startsWith(value))),
      },
    },
    ({ name }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Hello ${name}` } }] }),
  );
  return server;
}
