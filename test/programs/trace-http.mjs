// Writes down every HTTP message of this process, with its time, so that a call that was lost can be followed through a
// cluster: what came (body), what was answered (status, body, events), and which connections broke. Each line is written
// at once, so that a process that is killed leaves a true account.
// Import it before anything that listens, with TRACE (a file).
import { appendFileSync } from 'node:fs';
import { IncomingMessage, ServerResponse } from 'node:http';

const file = process.env.TRACE;
let count = 0;
const names = new WeakMap();

function nameOf(message) {
  if (!names.has(message)) {
    count += 1;
    names.set(message, count);
    const { method, url, socket, headers } = message;
    const known = ['mcp-session-id', 'last-event-id', 'isthmus-peer'].flatMap((name) =>
      headers[name] === undefined ? [] : [`${name}=${headers[name].slice(0, 40)}`],
    );
    note(message, `${method} ${url} at ${socket.localPort} from ${socket.remotePort} ${known.join(' ')}`);
    socket.once('close', () => note(message, 'socket closed'));
  }
  return names.get(message);
}

function note(message, text) {
  const time = new Date().toISOString().slice(14, 23);
  appendFileSync(file, `${time} ${process.pid}#${names.get(message)} ${text.replaceAll('\n', ' ')}\n`);
}

function textOf(chunk) {
  return typeof chunk === 'string' || chunk instanceof Uint8Array
    ? Buffer.from(chunk).toString('latin1')
    : '';
}

if (file) {
  const { push } = IncomingMessage.prototype;
  IncomingMessage.prototype.push = function traced(chunk, ...rest) {
    // Answers to requests of this process are read as such where they were made.
    if (this.method) {
      nameOf(this);
      if (chunk) note(this, `< ${textOf(chunk)}`);
    }
    return push.call(this, chunk, ...rest);
  };
  for (const method of ['writeHead', 'write', 'end']) {
    const original = ServerResponse.prototype[method];
    ServerResponse.prototype[method] = function traced(...args) {
      if (this.req?.method) {
        nameOf(this.req);
        note(this.req, `> ${method} ${method === 'writeHead' ? args[0] : textOf(args[0])}`);
      }
      return original.apply(this, args);
    };
  }
  const mark = {
    method: 'process',
    url: process.argv.slice(2).join(' '),
    socket: { once() {} },
    headers: {},
  };
  nameOf(mark);
  let at = performance.now();
  setInterval(() => {
    const now = performance.now();
    if (now - at > 400) note(mark, `was silent for ${Math.round(now - at)} ms`);
    at = now;
  }, 100).unref();
}
