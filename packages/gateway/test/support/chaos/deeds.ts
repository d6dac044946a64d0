import type { ControlClient } from '../../../src/control/index.js';
import type { RunningGateway } from '../../../src/run-gateway.js';
import { type Plan, SERVERS, type ServerName } from './plan.js';
import type { Processes } from './processes.js';
import { provenOf } from './referee.js';
import type { Remote } from './remote.js';
import type { Random } from './rush.js';

export interface Storm {
  readonly operation: RunningGateway;
  readonly control: ControlClient;
  readonly plan: Plan;
  readonly processes: Processes;
  readonly remote: Remote;
  readonly random: Random;
  /** Waits for something that must come to an end, or sees to it that somebody does. */
  settles(what: string, doing: Promise<unknown>, waits: boolean): Promise<void>;
  /** What has to be undone when the storm is over. */
  readonly undo: Set<() => void>;
}

export type Deed = (storm: Storm, name: ServerName) => Promise<unknown> | undefined;

/** All that can happen to a server, or be done to it. What could not be done is told by `undefined`. */
export const DEEDS: Readonly<Record<string, Deed>> = {
  kill: (storm, name) => withPid(storm, name, async (pid) => storm.processes.kill(pid)),
  freeze: (storm, name) =>
    withPid(storm, name, async (pid) => {
      const thaw = storm.processes.freeze(pid);
      if (!thaw) return;
      storm.undo.add(thaw);
      setTimeout(thaw, 20 + storm.random.upTo(200));
    }),
  restart: (storm, name) => verb(storm, 'restart', name),
  stop: (storm, name) => verb(storm, 'stop', name),
  start: (storm, name) => verb(storm, 'start', name),
  'stop and start': async (storm, name) => {
    await verb(storm, 'stop', name);
    await verb(storm, 'start', name);
  },
  change: (storm, name) => adopt(storm, name, (intent) => ({ version: intent.version + 1 })),
  'change the limits': (storm, name) => adopt(storm, name, ({ limit }) => ({ limit: limit + 1 })),
  'need it or not': (storm, name) => adopt(storm, name, ({ isNeeded }) => ({ isNeeded: !isNeeded })),
  'disable or enable': (storm, name) => adopt(storm, name, ({ isDisabled }) => ({ isDisabled: !isDisabled })),
  'break or mend': (storm, name) => adopt(storm, name, ({ isBroken }) => ({ isBroken: !isBroken })),
  'remove or add': (storm, name) => {
    if (storm.plan.intents[name].isThere && storm.plan.names.length <= 3) return undefined;
    storm.processes.forget(name);
    return adopt(storm, name, ({ isThere }) => ({ isThere: !isThere }));
  },
  'a broken file': async ({ operation, plan }) => {
    const problem = 'line 7: that is no JSON';
    operation.adopt({ units: [], problem, warnings: [] });
    const { configProblem, servers } = await operation.gateway.status();
    if (configProblem !== problem) throw new Error('the problem is not in the status');
    if (Object.keys(servers).join() !== plan.names.join()) throw new Error('a broken file changed something');
  },
  'the far end goes or comes': ({ remote, settles }) =>
    settles('the remote server', remote.isUp ? remote.kill() : remote.revive(), true),
};

/** More of what is likely, and what must always be possible. */
const LIKELY = ['kill', 'kill', 'kill', 'kill', 'freeze', 'restart', 'start', 'change'] as const;
/** Of those that start quickly. */
const QUICK: readonly ServerName[] = ['legacy', 'modern', 'tree', 'fragile'];

export function nextDeed(random: Random): { readonly what: string; readonly name: ServerName } {
  const what = random.pick([...LIKELY, ...Object.keys(DEEDS)]);
  return { what, name: random.pick([...SERVERS, ...QUICK, ...QUICK]) };
}

async function withPid(
  { operation, plan }: Storm,
  name: ServerName,
  action: (pid: number) => Promise<unknown>,
): Promise<unknown> {
  if (!plan.intents[name].isThere) return undefined;
  const status = await operation.gateway.status();
  const unit = status.servers[name];
  const pid = unit && provenOf(unit)?.pid;
  return pid === undefined ? undefined : action(pid);
}

/** Through the private socket, as a person would. Sometimes nobody waits for it, and the next blow comes in between. */
function verb(storm: Storm, what: 'restart' | 'stop' | 'start', name: ServerName): Promise<unknown> {
  return storm.settles(`${what} ${name}`, storm.control[what](name), storm.random.chance(0.4));
}

function adopt(
  storm: Storm,
  name: ServerName,
  change: (intent: Plan['intents'][ServerName]) => Partial<Plan['intents'][ServerName]>,
): Promise<unknown> {
  const { plan, operation, control, random, settles } = storm;
  Object.assign(plan.intents[name], change(plan.intents[name]));
  if (random.chance(0.5)) return settles('reload', control.reload(), true);
  operation.adopt({ units: plan.units(), problem: undefined, warnings: [] });
  return Promise.resolve();
}
