// Its vice: it neither reads nor writes until its boot is over; then it says so on stderr.
// node server-slow-boot.mjs <ms> <legacy|modern|dual>
import { choice, serveLines } from './support/line-server.mjs';

const ms = Number(process.argv[2] ?? 1000);
const eras = choice(1, ['dual', 'legacy', 'modern']);

setTimeout(() => {
  process.stderr.write(`booted after ${ms} ms\n`);
  serveLines({ name: 'slow-boot', eras });
}, ms);
