// Its vice: it has the id right and the rest wrong. Each tool is answered with a line that is no JSON-RPC response.
// node server-answers-badly.mjs [dual|legacy|modern]
import { choice, NO_ANSWER, serveLines } from './support/line-server.mjs';

const eras = choice(0, ['dual', 'legacy', 'modern']);
const error = { code: -32603, message: 'no' };
const BAD = {
  array: { jsonrpc: '2.0', result: [1] },
  null: { jsonrpc: '2.0', result: null },
  text: { jsonrpc: '2.0', result: 'done' },
  both: { jsonrpc: '2.0', result: {}, error },
  code: { jsonrpc: '2.0', error: { code: 1.5, message: 'no' } },
  message: { jsonrpc: '2.0', error: { code: 1 } },
  version: { result: { content: [] } },
};

serveLines({
  name: 'answers-badly',
  eras,
  tools: Object.fromEntries(
    Object.entries(BAD).map(([name, answer]) => [
      name,
      (_args, { id }, server) => {
        server.send({ ...answer, id });
        return NO_ANSWER;
      },
    ]),
  ),
});
