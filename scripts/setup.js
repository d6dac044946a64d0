// What every script does first. Nothing here writes to stdout: it may belong to a protocol.
export { ensureBuilt } from './setup/build.js';
export { ensureInstalled } from './setup/install.js';
export { runMain } from './setup/main.js';
