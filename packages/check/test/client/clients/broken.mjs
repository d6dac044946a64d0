// A small client over stdio with a fault, named by its first argument. Without one it does as it should.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const [fault] = process.argv.slice(2);
const [command, ...args] = JSON.parse(process.env.MCP_SERVER_ARGV);
const server = spawn(command, args, {
  stdio: ['pipe', 'pipe', 'ignore'],
  detached: fault === 'leaves-its-server',
});
const waiting = new Map();
createInterface({ input: server.stdout }).on('line', (line) => {
  const { id, result, error } = JSON.parse(line);
  waiting.get(id)?.(error ? { error } : { result });
});
let last = 0;
const say = (message) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const ask = (method, params) =>
  new Promise((resolve) => {
    last += 1;
    waiting.set(last, resolve);
    say({ id: last, method, params });
  });

if (fault === 'hangs') setInterval(() => {}, 1000);
else {
  if (fault === 'logs-to-the-pipe') server.stdin.write('connecting …\n');
  const { error } = await ask('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'broken', version: '1' },
  });
  if (error) process.exitCode = 1;
  else {
    if (fault !== 'forgets-initialized') say({ method: 'notifications/initialized' });
    await ask('tools/list', {});
    await ask('tools/call', { name: 'echo', arguments: { text: 'hi' } });
  }
  if (fault === 'kills-its-server') server.kill('SIGTERM');
  else if (fault === 'leaves-its-server') process.exit();
  else server.stdin.end();
}
