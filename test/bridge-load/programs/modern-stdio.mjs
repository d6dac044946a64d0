// The official v2 SDK over stdio, modern era only. What it did is in the file that DIARY names.
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createV2 } from './v2-parts.mjs';

serveStdio(() => createV2(), { legacy: 'reject' });
