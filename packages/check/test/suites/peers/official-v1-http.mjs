// A server of the official SDK v1 over Streamable HTTP, with sessions and its guard against foreign hosts and origins:
//   node packages/check/test/suites/peers/official-v1-http.mjs PORT
import { createServer } from 'node:http';
import { createV1 } from '../../../../../test/bridge-matrix/fixtures/v1-parts.mjs';
import { v1Sessions } from '../../../../../test/support/official-v1-http.mjs';

const port = Number(process.argv[2] ?? 0);
const { handle } = v1Sessions(createV1, {
  enableDnsRebindingProtection: true,
  allowedHosts: [`127.0.0.1:${port}`, `localhost:${port}`],
  allowedOrigins: [`http://127.0.0.1:${port}`, `http://localhost:${port}`],
});

createServer((request, response) => {
  if (request.url !== '/mcp') return response.writeHead(404).end();
  return handle(request, response);
}).listen(port, '127.0.0.1');
