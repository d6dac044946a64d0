import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { systemClock, within } from '@isthmus/sdk/internal/async/clock.js';
import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import { isStillRunning, startTimeOf } from '@isthmus/sdk/internal/process/process-facts.js';
import type { ClientTranscript, Entry, Over, Scenario } from '../model.js';
import { type HttpScriptedServer, playOverHttp } from '../scripted/http-server.js';
import { createRecorder, openLives, type Recorder, readRecord } from '../scripted/record.js';
import { playOnStdio } from '../scripted/stdio-server.js';
import { DEFAULT_STEPS, type Pipes, type Player } from './player.js';
import { findStored, prepareBrowser, RECORD } from './recording-browser.js';

interface RunSettings {
  /** The time limit of the client. Default 90 s. */
  readonly boundMs?: number | undefined;
  readonly signal: AbortSignal;
}

/** Runs the client against one scripted server, and records what happens. */
export async function runScenario(
  scenario: Scenario,
  over: Over,
  player: Player,
  settings: RunSettings,
): Promise<ClientTranscript> {
  const folder = await mkdtemp(join(tmpdir(), 'isthmus-client-'));
  const file = join(folder, RECORD);
  const entries: Entry[] = [];
  const record = createRecorder((entry) => entries.push(entry));
  const inner = createInnerServers(scenario, record);
  let http: HttpScriptedServer | undefined;
  const began = Date.now();
  try {
    if (over === 'http') http = await playOverHttp(scenario.open('http'), record);
    const browser = scenario.login && (await prepareBrowser(folder, file, record));
    const end = await player({
      scenario,
      over,
      steps: scenario.steps ?? DEFAULT_STEPS,
      url: http?.url,
      command: over === 'stdio' ? commandFor(scenario.name, file) : undefined,
      start: over === 'stdio' ? inner.start : undefined,
      login: scenario.login?.(new URL(http?.url ?? 'http://127.0.0.1').origin),
      browser,
      folder,
      boundMs: settings.boundMs ?? BOUND_MS,
      signal: settings.signal,
    });
    const at = Date.now();
    await settle(() => http?.isBusy() === true || inner.present() > 0);
    for (const stored of await findStored(folder, tokensIn(entries))) record(stored);
    const left = over === 'stdio' ? await countLeft(() => readRecord(file)) : 0;
    return {
      scenario: scenario.name,
      over,
      entries: [...readRecord(file), ...entries].sort((one, other) => one.at - other.at),
      end: { ...end, at, ms: at - began, left },
    };
  } finally {
    await http?.close();
    // Scripted servers that still run notice that their record is gone, and exit.
    await rm(folder, { recursive: true, force: true });
  }
}

/** Longer than the 60 s after which requests of the official clients time out by default. */
const BOUND_MS = 90_000;

/** The tokens that a scripted authorization server has issued. */
function tokensIn(entries: readonly Entry[]): string[] {
  return entries.flatMap((entry) =>
    entry.kind === 'out' ? (entry.text.match(/stage-(?:access|refresh)[\w-]+/g) ?? []) : [],
  );
}

const PROGRAM = fileURLToPath(new URL('../scripted/stdio-program.js', import.meta.url));

function commandFor(name: string, file: string): readonly string[] {
  return [process.execPath, PROGRAM, '--script', name, '--record', file];
}

/** The last requests of a client may still be on their way. */
async function settle(isBusy: () => boolean): Promise<void> {
  for (let waited = 0; isBusy() && waited < SETTLE_MS; waited += STEP_MS) {
    await within(systemClock, STEP_MS, new Promise(() => {}));
  }
}

const SETTLE_MS = 250;
const STEP_MS = 5;

interface InnerServers {
  readonly start: () => Pipes;
  /** How many are running now. */
  readonly present: () => number;
}

/** Servers on pipes in this process. Their `life` is negative, so it is never the id of a process. */
function createInnerServers(scenario: Scenario, record: Recorder): InnerServers {
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

/** How many recorded processes still run after a short grace period. */
async function countLeft(read: () => readonly Entry[]): Promise<number> {
  for (let waited = 0; ; waited += LOOK_MS) {
    const left = openLives(read()).filter(isRunning).length;
    if (left === 0 || waited >= GRACE_MS) return left;
    await within(systemClock, LOOK_MS, new Promise(() => {}));
  }
}

const GRACE_MS = 1000;
const LOOK_MS = 50;

function isRunning(pid: number): boolean {
  const since = startTimeOf(pid);
  return since !== undefined && isStillRunning(pid, since);
}
