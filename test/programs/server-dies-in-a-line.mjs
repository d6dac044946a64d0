// Its vice: it dies in the middle of an answer, with half of a line on stdout.
// node server-dies-in-a-line.mjs
import { writeSync } from 'node:fs';
import { NO_ANSWER, serveLines } from './support/line-server.mjs';

serveLines({
  name: 'dies-in-a-line',
  tools: {
    half(_args, { id }) {
      writeSync(1, `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"te`);
      process.exit(7);
      return NO_ANSWER;
    },
  },
});
