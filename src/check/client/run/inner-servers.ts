import { PassThrough } from 'node:stream';
import { createDeferred } from '../../../async/deferred.js';
import type { Scenario } from '../model.js';
import type { Recorder } from '../stage/recorder.js';
import { playOnStdio } from '../stage/stdio-stage.js';
import type { Pipes } from './stage.js';

export interface InnerServers {
  readonly start: () => Pipes;
  /** How many are there now. */
  readonly present: () => number;
}

/** Servers on pipes in our own process. Their lives are negative numbers, which no process has. */
export function createInnerServers(scenario: Scenario, record: Recorder): InnerServers {
  let lives = 0;
  let present = 0;
  return {
    present: () => present,
    start() {
      lives += 1;
      const life = -lives;
      const beside = present;
      present += 1;
      const stdin = new PassThrough();
      const stdout = new PassThrough();
      const exited = createDeferred<void>();
      let gone = false;
      const exit = () => {
        if (gone) return;
        gone = true;
        present -= 1;
        record({ kind: 'exit', life });
        stdout.end();
        stdin.destroy();
        exited.resolve();
      };
      playOnStdio({
        script: scenario.open('stdio'),
        input: stdin,
        output: stdout,
        record,
        life,
        beside,
        exit,
      });
      return { stdin, stdout, exited: exited.promise, kill: exit };
    },
  };
}
