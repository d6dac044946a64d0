import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { createDeferred } from '../../../async/deferred.js';
import type { Entry, Over, Scenario, Transcript } from '../model.js';
import { type HttpStage, playOverHttp } from '../stage/http-stage.js';
import { createRecorder, type Recorder } from '../stage/recorder.js';
import { playOnStdio } from '../stage/stdio-stage.js';
import { countLeft } from './left-behind.js';
import { DEFAULT_STEPS, type Pipes, type Player } from './stage.js';

export interface RunSettings {
  /** For every scenario, instead of what it says itself. */
  readonly boundMs?: number | undefined;
  readonly signal: AbortSignal;
}

/** Shows one server to the client, and writes down what happens. */
export async function runScenario(
  scenario: Scenario,
  over: Over,
  player: Player,
  settings: RunSettings,
): Promise<Transcript> {
  const folder = await mkdtemp(join(tmpdir(), 'isthmus-client-'));
  const file = join(folder, 'record.jsonl');
  const entries: Entry[] = [];
  const record = createRecorder((entry) => entries.push(entry));
  let http: HttpStage | undefined;
  const began = Date.now();
  try {
    if (over === 'http') http = await playOverHttp(scenario.open('http'), record);
    const end = await player({
      scenario,
      over,
      steps: scenario.steps ?? DEFAULT_STEPS,
      url: http?.url,
      command: over === 'stdio' ? commandFor(scenario.name, file) : undefined,
      start: over === 'stdio' ? starter(scenario, record) : undefined,
      folder,
      boundMs: settings.boundMs ?? scenario.boundMs ?? BOUND_MS,
      signal: settings.signal,
    });
    const at = Date.now();
    const left = over === 'stdio' ? await countLeft(() => readRecord(file)) : 0;
    return {
      scenario: scenario.name,
      over,
      entries: [...readRecord(file), ...entries].sort((one, other) => one.at - other.at),
      end: { ...end, at, ms: at - began, left },
    };
  } finally {
    await http?.close();
    // Scripted servers that are still there see that their record is gone, and go.
    await rm(folder, { recursive: true, force: true });
  }
}

const BOUND_MS = 15_000;

const PROGRAM = fileURLToPath(new URL('../stage/scripted-server.js', import.meta.url));

function commandFor(name: string, file: string): readonly string[] {
  return [process.execPath, PROGRAM, '--script', name, '--record', file];
}

/** A line that is half written when it is read is left for the next look. */
function readRecord(file: string): Entry[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Entry);
}

/** Servers in our own process. Their lives have small numbers, which are no processes of anybody. */
function starter(scenario: Scenario, record: Recorder): () => Pipes {
  let lives = 0;
  return () => {
    lives += 1;
    const life = -lives;
    const stdin = new PassThrough();
    const stdout = new PassThrough();
    const exited = createDeferred<void>();
    let gone = false;
    const exit = () => {
      if (gone) return;
      gone = true;
      record({ kind: 'exit', life });
      stdout.end();
      stdin.destroy();
      exited.resolve();
    };
    playOnStdio({ script: scenario.open('stdio'), input: stdin, output: stdout, record, life, exit });
    return { stdin, stdout, exited: exited.promise };
  };
}
