// Its vice: a call of the tool `die` is never answered; it writes its last words to stderr and exits with code 7.
// node server-dies-mid-call.mjs [dual|legacy|modern]
import { choice, NO_ANSWER, serveLines } from './support/line-server.mjs';

const eras = choice(0, ['dual', 'legacy', 'modern']);

serveLines({
  name: 'dies-mid-call',
  eras,
  tools: {
    die() {
      process.stderr.write('fatal: out of luck\n', () => process.exit(7));
      return NO_ANSWER;
    },
  },
});
