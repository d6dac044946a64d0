import type { GatewayStatus } from '../../../src/server-state.js';
import { readMetrics } from './metrics.js';
import { asking, PLAIN, type Plan, type ServerName } from './plan.js';
import type { Processes } from './processes.js';
import { rawModern } from './raw-clients.js';
import {
  callLies,
  contradictionsWithin,
  liesOfTheDead,
  metricsLies,
  provenOf,
  type Readyz,
  readyzLies,
  type Said,
} from './referee.js';
import type { Remote } from './remote.js';
import type { Random } from './rush.js';

export interface Witness {
  readonly origin: string;
  readonly plan: Plan;
  readonly processes: Processes;
  readonly remote: Remote;
  /** Each lie, with the step at which it was told. */
  readonly lies: string[];
  /** How many of the checks had something to compare. */
  readonly weighed: { pages: number; calls: number };
}

/** Looks at the pages, and makes a call in between; what changed meanwhile is nobody's lie. */
export async function testify(witness: Witness, step: string, random: Random): Promise<void> {
  const { origin, processes, remote, weighed } = witness;
  const tell = (found: readonly string[]) => witness.lies.push(...found.map((lie) => `${step}: ${lie}`));
  const name = random.pick(witness.plan.names);

  const before = await look(witness, tell);
  const readyz = await askReadyz(origin);
  const metrics = await readMetrics(origin);
  const after = await look(witness, tell);
  weighed.pages += 1;
  tell(readyzLies(before, readyz, after));
  tell(metricsLies(before, metrics, after));

  const failure = await attempt(origin, name, `${step}, asked by the witness`);
  const last = await look(witness, tell);
  // One that is held in the middle is no proof of anything, and a remote one may go at any time.
  const asked = after.status.servers[name];
  const isFrozen = processes.isFrozen(asked && provenOf(asked)?.pid);
  if (isFrozen || (name === 'remote' && !remote.isUp)) return;
  weighed.calls += 1;
  tell(callLies(after, last, name, failure));
}

/** `/status` answers always, and what it says agrees with itself and with the configuration. */
async function look(witness: Witness, tell: (found: readonly string[]) => void): Promise<Said> {
  const { origin, plan, processes, remote } = witness;
  const names = plan.names.join();
  processes.look();
  const askedAt = Date.now();
  const response = await fetch(`${origin}/status`);
  const text = await response.text();
  if (response.status !== 200 && response.status !== 503) {
    tell([`/status is ${response.status}: ${text}`]);
    return { code: response.status, status: { servers: {} } as GatewayStatus, askedAt };
  }
  const said = { code: response.status, status: JSON.parse(text) as GatewayStatus, askedAt };
  tell(contradictionsWithin(said));
  tell(liesOfTheDead(said, processes, remote));
  const told = Object.keys(said.status.servers).join();
  if (names === plan.names.join() && told !== names) tell([`/status has ${told}, configured are ${names}`]);
  return said;
}

async function askReadyz(origin: string): Promise<Readyz> {
  const response = await fetch(`${origin}/readyz`);
  const { waitingFor = [] } = (await response.json()) as Partial<Readyz>;
  return { code: response.status, waitingFor };
}

/** Why a call of this server failed, if it did. */
async function attempt(origin: string, name: ServerName, token: string): Promise<string | undefined> {
  const client = await rawModern(`${origin}/mcp/${name}`);
  const { tool, args } = asking(name, token, PLAIN);
  try {
    const text = await client.call(tool, args, AbortSignal.timeout(20_000));
    return text === token ? client.complaints[0] : `it answered ${String(text)}`;
  } catch (error) {
    return `${String(error)} ${JSON.stringify((error as { data?: unknown }).data)}`;
  }
}
