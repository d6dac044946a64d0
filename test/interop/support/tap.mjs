// Stands between a client and the server it launches, passes both directions on byte by byte and keeps a
// record:   node tap.mjs <directory> <command> [argument…]
// One file per process, `<pid>.jsonl`, written synchronously, so that what the peer has seen is in the record.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

const [directory, command, ...args] = process.argv.slice(2);
const file = join(directory, `${process.pid}.jsonl`);
const note = (entry) => appendFileSync(file, `${JSON.stringify(entry)}\n`);

const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
note({ kind: 'started', pid: server.pid });

const lines = (from) => {
  let rest = '';
  const decoder = new TextDecoder();
  return (chunk) => {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop();
    for (const line of parts) note({ kind: 'line', from, line });
  };
};
const fromClient = lines('client');
const fromServer = lines('server');

process.stdin.on('data', (chunk) => {
  fromClient(chunk);
  server.stdin.write(chunk);
});
process.stdin.on('end', () => {
  note({ kind: 'end', from: 'client' });
  server.stdin.end();
});
server.stdout.on('data', (chunk) => {
  fromServer(chunk);
  process.stdout.write(chunk);
});
// A side that is gone is told by the exit of the other.
server.stdin.on('error', () => {});
process.stdout.on('error', () => {});

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => {
    note({ kind: 'signal', signal });
    server.kill(signal);
  });
}
server.on('close', (code, signal) => {
  note({ kind: 'exit', code, signal });
  process.exitCode = code ?? 1;
  process.stdin.destroy();
});
