import { closeSync, existsSync, openSync, writeSync } from 'node:fs';
import { scenarioNamed } from '../scenarios/index.js';
import { createRecorder, openLives, readRecord } from './record.js';
import { playOnStdio } from './stdio-server.js';

/**
 * The program behind `{command}`: a scripted server on stdin and stdout. It writes down what it sees in a file, since
 * its pipes and its environment belong to the client that started it.
 *
 *     node scripted-server.js --script NAME --record FILE
 */

// Longer than a run.
const LONGEST_MS = 600_000;

const [name = '', file = ''] = ['--script', '--record'].map((option) => {
  const at = process.argv.indexOf(option);
  return at < 0 ? undefined : process.argv[at + 1];
});
const scenario = scenarioNamed(name);
if (!scenario || file === '') {
  process.stderr.write(`There is no script "${name}", or no file to record to\n`);
  process.exit(2);
}

const script = scenario.open('stdio');
const out = openSync(file, 'a');
const life = process.pid;
const record = createRecorder((entry) => writeSync(out, `${JSON.stringify(entry)}\n`));
const exit = (): never => {
  record({ kind: 'exit', life });
  closeSync(out);
  process.exit(0);
};
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  process.on(signal, () => {
    record({ kind: 'signal', life, signal });
    if (script.atEnd !== 'stays') exit();
  });
}
const log = (text: string) => new Promise<void>((resolve) => process.stderr.write(text, () => resolve()));
const beside = openLives(readRecord(file)).filter(isThere).length;
playOnStdio({ script, input: process.stdin, output: process.stdout, record, life, beside, exit, log });

// Whoever takes the record away has seen enough; and nobody needs a server for longer than this.
const started = Date.now();
setInterval(() => {
  if (!existsSync(file) || Date.now() - started > LONGEST_MS) process.exit(3);
}, 200);

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
