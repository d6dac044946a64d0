// Its vice: it starts a process of its own and leaves it behind, by default with our stdout and stderr in its
// hands, so that they never end. Its pid is on stderr (`grandchild 123`) and is what the tool `grandchild`
// returns. The grandchild ends by itself after two minutes.
// node server-leaves-grandchild.mjs [inherit|ignore] [dual|legacy|modern]
import { spawn } from 'node:child_process';
import { choice, LIFE_LIMIT_MS, serveLines } from './support/line-server.mjs';

const output = choice(0, ['inherit', 'ignore']);
const eras = choice(1, ['dual', 'legacy', 'modern']);
const grandchild = spawn(process.execPath, ['-e', `setTimeout(() => {}, ${LIFE_LIMIT_MS})`], {
  stdio: ['ignore', output, output],
});
process.stderr.write(`grandchild ${grandchild.pid}\n`);

serveLines({ name: 'leaves-grandchild', eras, tools: { grandchild: () => String(grandchild.pid) } });
