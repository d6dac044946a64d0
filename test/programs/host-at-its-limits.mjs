// Its vice: it goes on starting children when there is nothing left to start them with. It is told what to do line
// by line, and answers each with a line of JSON.
//   fill    opens files until there are no more        free    closes them
//   start   starts `cat` and keeps it: its pid, or the code and the sentence of the failure
//   ask     whether every child that was kept still answers
//   files   how many descriptors are open
import { once } from 'node:events';
import { closeSync, openSync, readdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createDeathWatch } from '@isthmus/sdk/internal/process/death-watch.js';
import { describeExit } from '@isthmus/sdk/internal/process/describe-exit.js';
import { spawnChild } from '@isthmus/sdk/internal/process/spawn-child.js';

const watchers = [createDeathWatch()];
const children = [];
const files = [];

const commands = {
  fill() {
    try {
      for (;;) files.push(openSync('/dev/null'));
    } catch ({ code }) {
      return code;
    }
  },
  free() {
    for (const file of files.splice(0)) closeSync(file);
    return 'freed';
  },
  async start() {
    const child = spawnChild({ command: 'cat', watchers });
    if (child.pid !== undefined) return { pid: children[children.push(child) - 1].pid };
    const exit = await child.stop();
    return { code: exit.error?.code, sentence: describeExit('cat', exit) };
  },
  async ask() {
    const answers = children.map(({ stdout }) => once(stdout, 'data'));
    for (const { stdin } of children) stdin.write('hello\n');
    return (await Promise.all(answers)).map(String);
  },
  files: () => readdirSync('/proc/self/fd').length,
};

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await commands[line]())}\n`);
}
await Promise.all(children.map((child) => child.stop()));
