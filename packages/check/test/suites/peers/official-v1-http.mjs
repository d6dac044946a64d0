// A server of the official SDK v1 over Streamable HTTP, with sessions and its guard against foreign hosts and origins:
//   node test/check/peers/official-v1-http.mjs PORT
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createV1 } from '../../../../../test/bridge-matrix/fixtures/v1-parts.mjs';

const port = Number(process.argv[2] ?? 0);
const sessions = new Map();

createServer(async (request, response) => {
  if (request.url !== '/mcp') return response.writeHead(404).end();
  const id = request.headers['mcp-session-id'];
  const known = sessions.get(id);
  if (known) return known.handleRequest(request, response);
  if (id !== undefined) return response.writeHead(404).end();
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (session) => sessions.set(session, transport),
    onsessionclosed: (session) => sessions.delete(session),
    enableDnsRebindingProtection: true,
    allowedHosts: [`127.0.0.1:${port}`, `localhost:${port}`],
    allowedOrigins: [`http://127.0.0.1:${port}`, `http://localhost:${port}`],
  });
  await createV1().connect(transport);
  await transport.handleRequest(request, response);
}).listen(port, '127.0.0.1');
