import { closeSync, existsSync, openSync, writeSync } from 'node:fs';
import { scenarioNamed } from '../scenarios/index.js';
import { createRecorder, openLives, readRecord } from './record.js';
import { playOnStdio } from './stdio-server.js';

/**
 * The program that `{command}` names: a scripted server on stdin and stdout. It records what it sees in a file, since its
 * pipes and its environment belong to the client that started it.
 *
 *     node stdio-program.js --script NAME --record FILE
 */

// Longer than a run.
const LONGEST_MS = 600_000;

const [name = '', file = ''] = ['--script', '--record'].map((option) => {
  const at = process.argv.indexOf(option);
  return at < 0 ? undefined : process.argv[at + 1];
});
const scenario = scenarioNamed(name);
if (!scenario || file === '') {
  process.stderr.write(`No script "${name}", or no --record FILE\n`);
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
const beside = openLives(readRecord(file)).filter(isRunning).length;
playOnStdio({ script, input: process.stdin, output: process.stdout, record, life, beside, exit, log });

// The run removes the record when it is over. The time limit is for a run that was killed.
const started = Date.now();
setInterval(() => {
  if (!existsSync(file) || Date.now() - started > LONGEST_MS) process.exit(3);
}, 200);

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
