import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { onTestFinished } from 'vitest';
import { z } from 'zod';

/** A legacy server on the official SDK, in this process. */
export interface LegacyHttp {
  readonly url: string;
  /** What came in: the method, and whether with a session. */
  readonly seen: readonly {
    readonly method: string;
    readonly session: string | undefined;
    readonly status: number;
  }[];
  /** What its tool `run` was given, in order: it did reach a handler. */
  readonly ran: readonly string[];
  /** The sessions that it has. */
  readonly sessions: ReadonlySet<string>;
  /** All sessions have expired: they are 404 from now on. */
  forget(): void;
}

export interface LegacyHttpOptions {
  /** `required`: 400 without, 404 for those it does not know. `none`: it never gives one out, and each request stands by itself. */
  readonly sessions: 'required' | 'none';
}

export async function openLegacyHttp({ sessions: wanted }: LegacyHttpOptions): Promise<LegacyHttp> {
  const open = new Map<string, StreamableHTTPServerTransport>();
  const seen: { method: string; session: string | undefined; status: number }[] = [];
  const ran: string[] = [];
  const http = createServer(async (req, res) => {
    const session = req.headers['mcp-session-id'] as string | undefined;
    const body = await bodyOf(req);
    const method = req.method === 'POST' ? String(body?.method ?? 'answer') : req.method!;
    res.on('close', () => void seen.push({ method, session, status: res.statusCode }));
    const known = session === undefined ? undefined : open.get(session);
    if (known) return known.handleRequest(req, res, body);
    if (wanted === 'required') {
      const isOpening = session === undefined && method === 'initialize';
      if (!isOpening) return refuse(res, session === undefined ? 400 : 404);
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: wanted === 'required' ? () => randomUUID() : undefined,
      onsessioninitialized: (id) => void open.set(id, transport),
      onsessionclosed: (id) => void open.delete(id),
    });
    // Its types say `sessionId?: string` and mean that it may be undefined.
    await createOfficial(ran).connect(transport as Transport);
    await transport.handleRequest(req, res, body);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    seen,
    ran,
    get sessions() {
      return new Set(open.keys());
    },
    forget: () => open.clear(),
  };
}

function createOfficial(ran: string[]): McpServer {
  const server = new McpServer({ name: 'official-v1', version: '1' });
  server.registerTool('run', { inputSchema: { token: z.string() } }, ({ token }) => {
    ran.push(token);
    return { content: [{ type: 'text', text: token }] };
  });
  server.registerTool('ask', {}, async () => {
    const { action, content } = await server.server.elicitInput({
      message: 'Who?',
      requestedSchema: { type: 'object', properties: { answer: { type: 'string' } } },
    });
    return { content: [{ type: 'text', text: `${action} ${content?.['answer']}` }] };
  });
  return server;
}

async function bodyOf(req: IncomingMessage): Promise<{ method?: string } | undefined> {
  let text = '';
  for await (const chunk of req) text += chunk;
  return text === '' ? undefined : JSON.parse(text);
}

function refuse(res: import('node:http').ServerResponse, status: 400 | 404): void {
  const message = status === 400 ? 'Bad Request: Missing session ID' : 'Session not found';
  res.writeHead(status, { 'content-type': 'application/json' });
  res.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }));
}
