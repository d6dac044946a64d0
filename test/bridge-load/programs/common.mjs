// What the programs of this folder share.
import { appendFileSync } from 'node:fs';

export const text = (value) => ({ content: [{ type: 'text', text: value }] });

/** Written down before anything else happens: even a process that is killed leaves a true account. */
export function note(line) {
  if (process.env.DIARY) appendFileSync(process.env.DIARY, `${line}\n`);
}

/** Calls that wait for each other, by tool: with `of` they go on when so many have come, the last one first. */
const meetings = new Map();
export function meet(tool, of = 1) {
  const waiting = meetings.get(tool) ?? [];
  meetings.set(tool, waiting);
  return new Promise((go) => {
    waiting.unshift(go);
    if (waiting.length < of) return;
    meetings.delete(tool);
    for (const next of waiting) next();
  });
}

/** Calls that wait to be released, whoever does it; or to be called off, which they tell. */
const held = new Set();
export function hold(signal, said) {
  note(`waiting ${said}`);
  return new Promise((resolve) => {
    const go = () => resolve(text(`${said} was released`));
    held.add(go);
    signal.addEventListener('abort', () => {
      if (held.delete(go)) note(`cancelled ${said}`);
      resolve(text(`${said} was called off`));
    });
  });
}
export function release() {
  for (const go of held) go();
  held.clear();
  return text('released');
}
// Also from outside, where no call gets through any more.
process.on('SIGUSR2', release);

/** A form with one field. */
export const form = (message) => ({
  message,
  requestedSchema: { type: 'object', properties: { answer: { type: 'string' } } },
});

/** Listens on the port of the command line, or a free one, and tells the address on stdout. */
export function tellAddress(httpServer) {
  httpServer.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
    process.stdout.write(`http://127.0.0.1:${httpServer.address().port}/mcp\n`);
  });
}
