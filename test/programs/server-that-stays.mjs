// Its vice: it never answers the tool `wait`, and neither cancellation, nor the end of its input, nor SIGTERM makes it
// go. It notes in a file what it is told, a word a line, and gives up by itself after two minutes.
// node server-that-stays.mjs FILE [heeds]      heeds: it goes when its input ends
import { appendFileSync } from 'node:fs';
import { NO_ANSWER, serveLines, stayAlive } from './support/line-server.mjs';

const [, , file, heeds] = process.argv;
const note = (word) => appendFileSync(file, `${word}\n`);
process.on('SIGTERM', () => note('SIGTERM'));
process.on('SIGINT', () => note('SIGINT'));
if (!heeds) stayAlive();

serveLines({
  name: 'stays',
  tools: {
    wait() {
      note('call');
      return NO_ANSWER;
    },
  },
  intercept({ method }) {
    if (method === 'notifications/cancelled') note('cancelled');
    return false;
  },
  onEnd() {
    note('end');
    if (heeds) process.exit(0);
  },
});
