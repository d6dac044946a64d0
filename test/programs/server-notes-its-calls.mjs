// Its vice: it writes a diary. What `run {token, ms}` is called with is in the file before anything else happens,
// so that even a process that is killed leaves a true account of what it ran. The answer is the token.
// node server-notes-its-calls.mjs <file> <legacy|modern|dual>
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { choice, serveLines } from './support/line-server.mjs';

const diary = process.argv[2];
const eras = choice(1, ['dual', 'legacy', 'modern']);

serveLines({
  name: 'notes-its-calls',
  eras,
  tools: {
    async run({ token, ms = 0 }) {
      appendFileSync(diary, `${token}\n`);
      if (ms > 0) await sleep(ms);
      return String(token);
    },
  },
});
