// Its vice: it leaves processes behind whose parent is gone, and that end when nobody looks.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, serve, stdio } from '@isthmus/sdk';

const server = createServer({ name: 'orphans', version: '1' });
server.tool('orphan', {}, () => {
  // setsid: whoever ends the group of this server does not get at it.
  execFileSync('sh', ['-c', 'setsid sleep 0.05 >/dev/null 2>&1 &']);
  return 'left';
});
server.tool('processes', {}, () => {
  const states = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [`${pid}:${/^State:\s+(\S)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]}`];
      } catch {
        return [];
      }
    });
  return states.join(' ');
});
await serve(server, stdio());
