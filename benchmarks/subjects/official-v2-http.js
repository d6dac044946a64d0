/**
 * The official TypeScript SDK, v2, over HTTP as its documentation shows: one factory for both eras, the Node
 * adapter with its guards, schemas made once. The argument is the number of tools.
 */

import { createServer } from 'node:http';
import {
  localhostHostValidation,
  localhostOriginValidation,
  toNodeHandler,
} from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { furtherTools, tellPort } from './support.js';

const inputSchema = z.object({ text: z.string() });
const config = { description: 'Returns the text it is given.', inputSchema };
const names = ['echo', ...furtherTools()];
const call = (/** @type {{ text: string }} */ { text }) => ({
  content: [{ type: /** @type {const} */ ('text'), text }],
});

const handler = toNodeHandler(
  createMcpHandler(() => {
    const server = new McpServer({ name: 'official-v2', version: '0.0.0' }, { capabilities: { tools: {} } });
    for (const name of names) server.registerTool(name, config, call);
    return server;
  }),
);
const validateHost = localhostHostValidation();
const validateOrigin = localhostOriginValidation();

tellPort(
  createServer((request, response) => {
    if (validateHost(request, response) && validateOrigin(request, response)) void handler(request, response);
  }),
);
