/**
 * The measure for large results: for each POST it has the child behind it send one, joins its pieces, and parses
 * the line once. With the argument `swallow` that is all, and the answer over HTTP is empty; with `forward` the
 * bytes of the line are the answer.
 */

import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { tellPort } from './support.js';

const NEWLINE = 10;
const [, , mode, ...args] = process.argv;

const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
/** @type {import('node:http').ServerResponse | undefined} */
let waiting;
/** @type {Buffer[]} */
let pieces = [];

child.on('exit', () => process.exit(1));
child.stdout.on('data', (/** @type {Buffer} */ chunk) => {
  pieces.push(chunk);
  if (chunk[chunk.length - 1] !== NEWLINE) return;
  const line = Buffer.concat(pieces);
  pieces = [];
  const message = JSON.parse(line.toString('utf8'));
  if (message.result === undefined) throw new Error('the upstream refused');
  const body = mode === 'forward' ? line : '';
  waiting?.writeHead(200, { 'content-type': 'application/json', 'content-length': String(body.length) });
  waiting?.end(body);
});

tellPort(
  createServer((request, response) => {
    waiting = response;
    request.on('data', (body) => child.stdin.write(`${body}\n`));
  }),
);
