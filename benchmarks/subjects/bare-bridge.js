/**
 * The limit of a bridge: `node:http` in front, a child's stdio behind, and between them what no bridge can do
 * without: one parse and one new id for each message, in both directions. It checks nothing.
 *
 * Its arguments are the command of the upstream. A request that arrives in the legacy era leaves in it, and
 * `initialize` is passed on like any other request.
 */

import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { tellPort } from './support.js';

const NEWLINE = 10;
const [, , ...args] = process.argv;

const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
/** @type {Map<number, { id: unknown, response: import('node:http').ServerResponse }>} */
const asked = new Map();
let nextId = 1;
let outgoing = '';
/** @type {Buffer[]} */
let pending = [];

child.on('exit', () => process.exit(1));
child.stdout.on('data', (/** @type {Buffer} */ chunk) => {
  let from = 0;
  for (let to = chunk.indexOf(NEWLINE); to !== -1; to = chunk.indexOf(NEWLINE, from)) {
    pending.push(chunk.subarray(from, to));
    onLine(pending.length === 1 ? pending[0] : Buffer.concat(pending));
    pending = [];
    from = to + 1;
  }
  if (from < chunk.length) pending.push(chunk.subarray(from));
});

tellPort(
  createServer((request, response) => {
    /** @type {Buffer[]} */
    const chunks = [];
    request.on('data', (part) => chunks.push(part));
    request.on('end', () => {
      const message = JSON.parse((chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)).toString('utf8'));
      if (message.id === undefined) {
        response.writeHead(202, { 'content-length': '0' });
        response.end();
      } else {
        asked.set(nextId, { id: message.id, response });
        message.id = nextId;
        nextId += 1;
      }
      write(`${JSON.stringify(message)}\n`);
    });
  }),
);

/**
 * What one turn has to say leaves in one write.
 * @param {string} line
 */
function write(line) {
  if (outgoing === '') {
    setImmediate(() => {
      child.stdin.write(outgoing);
      outgoing = '';
    });
  }
  outgoing += line;
}

/** @param {Buffer} line */
function onLine(line) {
  const message = JSON.parse(line.toString('utf8'));
  const call = asked.get(message.id);
  if (call === undefined) return;
  asked.delete(message.id);
  message.id = call.id;
  const body = JSON.stringify(message);
  call.response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
  });
  call.response.end(body);
}
