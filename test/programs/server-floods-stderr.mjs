// Its vice: 1 MB on stderr before its first answer, which waits until somebody has read all of it.
// node server-floods-stderr.mjs [dual|legacy|modern]
import { choice, serveLines } from './support/line-server.mjs';

const eras = choice(0, ['dual', 'legacy', 'modern']);
const flood = `${'x'.repeat(99)}\n`.repeat(10_000);
let flooded;

serveLines({
  name: 'floods-stderr',
  eras,
  onAnswer(message, server) {
    flooded ??= new Promise((resolve) => process.stderr.write(`${flood}end of the flood\n`, resolve));
    flooded.then(() => server.send(message));
  },
});
