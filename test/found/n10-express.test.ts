import { once } from 'node:events';
import {
  createServer as createWeb,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { checkServer, httpTarget } from '@isthmus/check';
import { createServer, httpHandler, serve } from '@isthmus/sdk';
import { expect, it, onTestFinished } from 'vitest';

/** What is used of Express, which has no types of its own. */
type Express = RequestListener & {
  use(middleware: unknown): void;
  all(path: string, listener: (req: IncomingMessage, res: ServerResponse) => void): void;
};
const express = createRequire(import.meta.url)('express') as (() => Express) & { json(): unknown };

/** The mount of docs/http.md, in a real Express. */
async function mount(): Promise<string> {
  const server = createServer({ name: 'mounted', version: '1' });
  server.tool('hello', { description: 'Says hello', annotations: { readOnlyHint: true } }, () => 'Hello');
  const endpoint = httpHandler();
  const served = await serve(server, endpoint);
  const app = express();
  app.all('/mcp', (req, res) => endpoint.node(req, res));
  app.use(express.json());
  const web = createWeb(app).listen(0, '127.0.0.1');
  await once(web, 'listening');
  onTestFinished(async () => {
    await served.close({ graceMs: 0 });
    web.closeAllConnections();
    web.close();
  });
  return `http://127.0.0.1:${(web.address() as AddressInfo).port}/mcp`;
}

it('N10: the documented Express mount earns no warning of our own check', { timeout: 240_000 }, async () => {
  const report = await checkServer(httpTarget(await mount()), { suites: ['http'], seed: 1 });
  const bad = report.findings.filter(({ outcome }) => outcome !== 'pass' && outcome !== 'skip');
  expect(bad.map(({ id, outcome, seen }) => `${outcome} ${id}: ${seen}`)).toEqual([]);
});

it('N10: a body over the 100 kB of the parser is accepted', async () => {
  const url = await mount();
  const text = 'x'.repeat(200_000);
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'hello',
        arguments: { text },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    }),
  });
  expect(answer.status).toBe(400); // the header Mcp-Method is missing: the body was read
});
