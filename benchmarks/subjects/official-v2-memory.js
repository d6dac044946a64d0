/**
 * The official TypeScript SDK, v2, over HTTP for the measurement of memory: the handler of the documentation for the
 * modern era, a transport and a server for each legacy session, and a tool that asks a person.
 */

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { tellPort } from './support.js';

const MANY = 40_000;
const HOUR_MS = 3_600_000;
const requestedSchema = { type: /** @type {const} */ ('object'), properties: { room: { type: 'string' } } };
const inputSchema = z.object({});

function createOne() {
  const server = new McpServer({ name: 'official-v2', version: '0.0.0' }, { capabilities: { tools: {} } });
  server.registerTool('ask', { description: 'Asks a person.', inputSchema }, async (_args, ctx) => {
    const question = { message: 'Which room?', requestedSchema };
    const { action } = await ctx.mcpReq.elicitInput(/** @type {any} */ (question), {
      timeout: HOUR_MS,
      relatedRequestId: ctx.mcpReq.id,
    });
    return { content: [{ type: 'text', text: action }] };
  });
  return server;
}

const modern = toNodeHandler(createMcpHandler(createOne, { maxSubscriptions: MANY }));
/** @type {Map<string, NodeStreamableHTTPServerTransport>} */
const sessions = new Map();

tellPort(
  createServer(async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405, { 'content-length': '0' }).end();
    if (request.headers['mcp-protocol-version'] === '2026-07-28') return void modern(request, response);
    const known = sessions.get(String(request.headers['mcp-session-id']));
    if (known !== undefined) return void known.handleRequest(request, response);
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await createOne().connect(transport);
    await transport.handleRequest(request, response);
  }),
);
