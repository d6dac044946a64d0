// Its vice: neither the end of its input nor SIGTERM nor SIGINT makes it go. It tells its tries on stderr, and
// gives up by itself after two minutes.
// node server-ignores-sigterm.mjs [dual|legacy|modern]
import { choice, serveLines, stayAlive } from './support/line-server.mjs';

const eras = choice(0, ['dual', 'legacy', 'modern']);
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => process.stderr.write(`${signal}? no\n`));
}
// A host that was killed has closed the pipes.
for (const stream of [process.stdin, process.stdout, process.stderr]) stream.on('error', () => {});
stayAlive();

serveLines({
  name: 'ignores-sigterm',
  eras,
  onEnd: () => process.stderr.write('end of input? no\n'),
});
