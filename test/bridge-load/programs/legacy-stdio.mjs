// The official v1 SDK over stdio, legacy era only. What it did is in the file that DIARY names.
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { createV1 } from './v1-parts.mjs';

await createV1().connect(new StdioServerTransport());
