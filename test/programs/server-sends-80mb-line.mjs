// Its vice: the tool `big` is answered with one line of 80 MB, in pieces of 1 MB, its id at the front or only at
// the very end.
// node server-sends-80mb-line.mjs [id-first|id-last] [dual|legacy|modern]
import { once } from 'node:events';
import { choice, isModern, NO_ANSWER, serveLines } from './support/line-server.mjs';

const where = choice(0, ['id-first', 'id-last']);
const eras = choice(1, ['dual', 'legacy', 'modern']);
const megabyte = 'x'.repeat(1_000_000);

serveLines({
  name: 'sends-80mb-line',
  eras,
  tools: {
    async big(_args, message) {
      const id = `"id":${JSON.stringify(message.id)}`;
      const type = isModern(message) ? '"resultType":"complete",' : '';
      const [front, back] = where === 'id-first' ? [`${id},`, ''] : ['', `,${id}`];
      await write(`{"jsonrpc":"2.0",${front}"result":{${type}"content":[{"type":"text","text":"`);
      for (let i = 0; i < 80; i += 1) await write(megabyte);
      await write(`"}]}${back}}\n`);
      return NO_ANSWER;
    },
  },
});

async function write(text) {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}
