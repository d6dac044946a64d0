import { PATIENCE_MS, until } from '../support/until.js';
import type { Event, Json, RequestOptions, Witness } from './clients/witness.js';

/** One thing that a client does, under a name by which it is told apart in reports. */
export interface Step {
  readonly name: string;
  play(witness: Witness): Promise<void>;
  /** What is still to come after the answer. Whether it does shows in the comparison. */
  readonly then?: (event: Event) => boolean;
  /** To whom it is known not to come: they are given less time to be surprised. */
  readonly unheard?: (who: Player) => boolean;
  /** Leaves out clients that cannot do this. */
  readonly unless?: (clientName: string) => boolean;
}

export interface Player {
  readonly client: string;
  /** How the bridge is reached; undefined: there is none. */
  readonly over: 'http' | 'stdio' | undefined;
}

/** What became of each step, in the order of the script. */
export type Played = Readonly<Record<string, readonly Event[]>>;

/** Plays the steps one after the other and writes down what happens in each. */
export async function play(script: readonly Step[], witness: Witness, who: Player): Promise<Played> {
  const played: Record<string, readonly Event[]> = { opening: [{ result: witness.opening }] };
  // What comes before the first step belongs to it.
  let from = 0;
  for (const step of script) {
    if (step.unless?.(who.client)) continue;
    if (played[step.name]) throw new Error(`There are two steps ${step.name}`);
    await step.play(witness);
    const { then, unheard } = step;
    if (then) {
      const limitMs = unheard?.(who) ? SURPRISE_MS : PATIENCE_MS;
      await until(step.name, () => witness.events.slice(from).some(then), limitMs).catch(() => {});
    }
    played[step.name] = witness.events.slice(from);
    from = witness.events.length;
  }
  if (witness.late) played['after being cancelled'] = [{ result: { isHeard: witness.late.length > 0 } }];
  return played;
}

export function request(name: string, method: string, params: Json = {}, options?: RequestOptions): Step {
  return { name, play: (witness) => witness.request(method, params, options) };
}

export function call(tool: string, args: Json = {}, options: RequestOptions = {}): Step {
  const words = [
    `call ${tool}`,
    ...(Object.keys(args).length > 0 ? [JSON.stringify(args)] : []),
    ...Object.keys(options).map((option) => `(${option})`),
  ];
  return request(words.join(' '), 'tools/call', { name: tool, arguments: args }, options);
}

/** All lists that there are. */
export const lists: readonly Step[] = [
  request('list tools', 'tools/list'),
  request('list resources', 'resources/list'),
  request('list templates', 'resources/templates/list'),
  request('list prompts', 'prompts/list'),
];

/** Only legacy clients can. */
export const ping: Step = {
  ...request('ping', 'ping'),
  unless: (clientName) => clientName.endsWith('modern'),
};

export function watch(uri: string): Step {
  return { name: `watch ${uri}`, play: (witness) => witness.watch(uri) };
}

export function logFrom(level: string): Step {
  return { name: `log from ${level} on`, play: (witness) => witness.setLogLevel(level) };
}

const SURPRISE_MS = 700;

/** Something to wait for, without doing anything. */
export function hear(name: string, word: string, unheard?: Step['unheard']): Step {
  return andThen(word, { name, play: async () => {} }, unheard);
}

/** The step, and after its answer one that is told or asked by this word. */
export function andThen(word: string, step: Step, unheard?: Step['unheard']): Step {
  return {
    ...step,
    ...(unheard && { unheard }),
    then: (event) =>
      'told' in event || 'message' in event || 'asked' in event
        ? JSON.stringify(event).includes(word)
        : false,
  };
}

/** Lines do not give up by themselves. */
export const isRaw = (clientName: string) => clientName.startsWith('raw');

export const isModern = ({ client }: Player) => client.endsWith('modern');

/** Whoever shares a process, or speaks the modern era, is not asked by a server that has just been started. */
export const cannotBeAskedEarly = (who: Player) => who.over === 'http' || isModern(who);
