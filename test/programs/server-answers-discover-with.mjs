// Its vice: a legacy server with an answer of its own to `server/discover`.
// node server-answers-discover-with.mjs <code|garbage|no-id|null-id>
//   code     an error with that code, as -32601, -32602, -32600, -32000
//   garbage  a line that is not JSON, and nothing else
//   no-id    an error without `id`
//   null-id  an error with `id: null`
import { serveLines } from './support/line-server.mjs';

const how = process.argv[2] ?? '-32601';
const error = { code: -32601, message: 'Method not found' };

serveLines({
  name: 'answers-discover-with',
  eras: 'legacy',
  intercept({ id, method }, server) {
    if (method !== 'server/discover') return false;
    if (how === 'garbage') server.sendLine('Traceback (most recent call last): {"method": server/discover');
    else if (how === 'no-id') server.send({ jsonrpc: '2.0', error });
    else if (how === 'null-id') server.send({ jsonrpc: '2.0', id: null, error });
    else server.fail(id, Number(how), 'I do not know what you mean');
    return true;
  },
});
