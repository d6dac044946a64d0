// Its vice: it neither reads nor writes until its boot is over; then it says so on stderr.
// node server-slow-boot.mjs <ms> <legacy|modern|dual>      boots for so long
// node server-slow-boot.mjs <file> <legacy|modern|dual>    boots until there is this file
import { existsSync } from 'node:fs';
import { choice, serveLines } from './support/line-server.mjs';

const until = process.argv[2] ?? '1000';
const eras = choice(1, ['dual', 'legacy', 'modern']);

if (/^\d+$/.test(until)) setTimeout(serve, Number(until), `after ${until} ms`);
else untilFile();

function untilFile() {
  if (existsSync(until)) serve('with its file');
  else setTimeout(untilFile, 20);
}

function serve(how) {
  process.stderr.write(`booted ${how}\n`);
  serveLines({ name: 'slow-boot', eras });
}
