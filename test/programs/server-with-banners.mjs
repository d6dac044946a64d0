// Its vice: it prints on stdout, before the first message and around every other one. Some of what it prints is
// even JSON, but none of it is a message.
// node server-with-banners.mjs [dual|legacy|modern]
import { choice, serveLines } from './support/line-server.mjs';

const eras = choice(0, ['dual', 'legacy', 'modern']);
process.stdout.write('=== Banner Server 1.0 ===\nListening on stdio …\n\n{"level":30,"msg":"started"}\n');

serveLines({
  name: 'with-banners',
  eras,
  onAnswer(message, server) {
    server.sendLine(`[debug] answering ${message.id}`);
    server.send(message);
    server.sendLine('17');
    server.sendLine(`{"level":20,"msg":"answered","id":${JSON.stringify(message.id)}}`);
    server.sendLine('\r');
  },
});
