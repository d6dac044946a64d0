// Its vice: it is not the server but starts it, as npx and uvx do, on its own pipes. SIGTERM ends only the wrapper.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('child-that-ignores-sigterm.mjs', import.meta.url));
const server = spawn(process.execPath, [program], { stdio: 'inherit' });
server.on('exit', (code) => process.exit(code ?? 1));
