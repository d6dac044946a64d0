// A server for a storm: `run {token, ms, die}` is in the diary before anything else happens, so that even a process
// that is killed leaves a true account of what it ran. The answer is the token; with `die` there is none.
// node storm-server.mjs <diary> <legacy|modern|dual>
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { NO_ANSWER, serveLines } from '../../../../../test/programs/support/line-server.mjs';

const [diary, eras] = process.argv.slice(2);

serveLines({
  name: 'storm',
  eras,
  tools: {
    async run({ token, ms = 0, die = false }) {
      appendFileSync(diary, `${token}\n`);
      if (ms > 0) await sleep(ms);
      if (!die) return String(token);
      process.stderr.write(`fell over ${token}\n`);
      process.exit(1);
      return NO_ANSWER;
    },
  },
});
