// Its vice: the tool `wait` is answered only when it has been cancelled, and then it is answered all the same:
// with its progress, if it was asked for, and its result. It says on stderr what it does.
// node server-answers-after-cancel.mjs [dual|legacy|modern]
import { choice, serveLines } from './support/line-server.mjs';

const eras = choice(0, ['dual', 'legacy', 'modern']);
const waiting = new Map();

serveLines({
  name: 'answers-after-cancel',
  eras,
  tools: {
    wait: (_args, { id, params }) =>
      new Promise((resolve) => {
        process.stderr.write(`waiting ${id}\n`);
        waiting.set(id, { resolve, progressToken: params._meta?.progressToken });
      }),
  },
  intercept({ method, params }, server) {
    if (method !== 'notifications/cancelled') return false;
    const { resolve, progressToken } = waiting.get(params.requestId) ?? {};
    waiting.delete(params.requestId);
    process.stderr.write(`cancelled ${params.requestId}, known: ${resolve !== undefined}\n`);
    if (progressToken !== undefined) {
      const progress = { progressToken, progress: 1, message: 'too late' };
      server.send({ jsonrpc: '2.0', method: 'notifications/progress', params: progress });
    }
    resolve?.('too late');
    return true;
  },
});
