// The official v2 SDK over HTTP, modern era only: node modern-http.mjs [PORT], tells its address on stdout.
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { tellAddress } from './common.mjs';
import { createV2 } from './v2-parts.mjs';

const handler = createMcpHandler(() => createV2(handler.notify), { legacy: 'reject' });

tellAddress(createServer(toNodeHandler(handler)));
