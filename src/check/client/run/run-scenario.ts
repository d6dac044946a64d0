import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../../async/clock.js';
import { within } from '../../../async/within.js';
import type { Entry, Over, Scenario, Transcript } from '../model.js';
import { type HttpStage, playOverHttp } from '../stage/http-stage.js';
import { readRecord } from '../stage/record-file.js';
import { createRecorder } from '../stage/recorder.js';
import { createInnerServers } from './inner-servers.js';
import { countLeft } from './left-behind.js';
import { DEFAULT_STEPS, type Player } from './stage.js';

export interface RunSettings {
  /** How long the client may take. Default 90 s. */
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
  const inner = createInnerServers(scenario, record);
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
      start: over === 'stdio' ? inner.start : undefined,
      folder,
      boundMs: settings.boundMs ?? BOUND_MS,
      signal: settings.signal,
    });
    const at = Date.now();
    await settle(() => http?.isBusy() === true || inner.present() > 0);
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

/** Longer than the 60 s that the official clients give a request by default: they are heard out. */
export const BOUND_MS = 90_000;

const PROGRAM = fileURLToPath(new URL('../stage/scripted-server.js', import.meta.url));

function commandFor(name: string, file: string): readonly string[] {
  return [process.execPath, PROGRAM, '--script', name, '--record', file];
}

/** The last that a client does may still be on its way to us. */
async function settle(isBusy: () => boolean): Promise<void> {
  for (let waited = 0; isBusy() && waited < SETTLE_MS; waited += STEP_MS) {
    await within(systemClock, STEP_MS, new Promise(() => {}));
  }
}

const SETTLE_MS = 250;
const STEP_MS = 5;
