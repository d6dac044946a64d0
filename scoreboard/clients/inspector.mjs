// The command line of the MCP Inspector, which does one thing a run: it lists the tools, and calls none.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { address } from './run.mjs';

const INSPECTOR = fileURLToPath(
  new URL('../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js', import.meta.url),
);

const { url, command, args } = address();
const target = url ? [url, '--transport', 'http'] : [command, ...args];
const child = spawn(process.execPath, [INSPECTOR, '--cli', ...target, '--method', 'tools/list'], {
  stdio: 'inherit',
  // Its list of servers stays out of the home folder.
  env: { ...process.env, MCP_CATALOG_PATH: `${process.env.XDG_CACHE_HOME}/inspector.json` },
});
child.on('exit', (code) => {
  process.exitCode = code ?? 1;
});
