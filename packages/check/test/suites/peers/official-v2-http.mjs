// A server of the official SDK v2 over HTTP, both eras, with its guards as its documentation shows:
//   node test/check/peers/official-v2-http.mjs PORT
import { createServer } from 'node:http';
import {
  localhostHostValidation,
  localhostOriginValidation,
  toNodeHandler,
} from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { createV2 } from '../../../../../test/bridge-matrix/fixtures/v2-parts.mjs';

const handler = createMcpHandler(() => createV2(handler.notify));
const handle = toNodeHandler(handler);
const validateHost = localhostHostValidation();
const validateOrigin = localhostOriginValidation();

createServer((request, response) => {
  if (request.url !== '/mcp') return response.writeHead(404).end();
  if (validateHost(request, response) && validateOrigin(request, response)) void handle(request, response);
}).listen(Number(process.argv[2] ?? 0), '127.0.0.1');
