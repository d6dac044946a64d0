import { describe, expect, it } from 'vitest';
import type { QuestionPolicy, TenantCaller } from '../../../src/era/client-dialect-context.js';
import type { OnBehalfOf } from '../../../src/exchange/call.js';
import type { JsonObject, RequestId } from '../../../src/wire/json-rpc.js';
import type { InputResponse } from '../../../src/wire/model.js';
import { session, settle, toolCall } from '../../support/legacy-session.js';

/**
 * Chance decides what happens next on a shared session: who calls what, who asks, answers, cancels or takes back.
 * Whatever it is, a question reaches nobody but the owner of the call that led to it, everything ends, and no call
 * keeps those of others waiting for long (decision 10).
 */

/** What the tools of the server do, one step after the other. A question waits for its answer, `two` for both. */
const TOOLS: Record<string, readonly Step[]> = {
  echo: ['work'],
  slow: ['work', 'work', 'work', 'work', 'work', 'work'],
  ask: ['ask'],
  late: ['work', 'work', 'ask', 'work'],
  wizard: ['ask', 'work', 'ask', 'ask'],
  form: ['work', 'two', 'work'],
};

/** These also ask while an earlier question is open, or when they have answered. Nobody can tell from the wire. */
const LATE_TOOLS: Record<string, readonly Step[]> = {
  ...TOOLS,
  forms: ['two', 'more', 'work'],
  stagger: ['ask', 'more', 'work', 'more'],
  after: ['work', 'done', 'more'],
};

type Step = 'work' | 'ask' | 'two' | 'more' | 'done';

/** A call as the server sees it. */
interface Running {
  readonly id: RequestId;
  readonly owner: string;
  readonly steps: Step[];
  readonly open: Set<string>;
}

class World {
  readonly #session: ReturnType<typeof session>;
  readonly #chance: () => number;
  /** Who calls: voices, or those for whom one voice speaks. */
  readonly #callers = new Map<string, { readonly speaker: TenantCaller; readonly behalf?: OnBehalfOf }>();
  /** Whether the server pays heed to cancellations. */
  readonly #isObedient: boolean;
  readonly #running = new Map<RequestId, Running>();
  readonly #overs = new Set<AbortController>();
  /** People who think. */
  readonly #thinking: (() => void)[] = [];
  #questions = 0;
  #calls = 0;
  readonly mistakes: string[] = [];
  settled = 0;
  answered = 0;
  refused = 0;

  /** Calls that were made and have not been sent, with the time from which on they waited too long. */
  readonly #unsent = new Map<number, number>();
  readonly #tools: Record<string, readonly Step[]>;
  readonly #policy: QuestionPolicy;

  constructor(policy: QuestionPolicy, callers: Callers, seed: number) {
    this.#policy = policy;
    this.#tools = callers === 'principals' ? LATE_TOOLS : TOOLS;
    this.#session = session(policy);
    this.#chance = random(seed);
    // What was given up on behalf of somebody is feared for a moment only.
    this.#isObedient = callers !== 'voices';
    const voice = callers === 'voices' ? undefined : this.#session.join();
    for (const owner of ['ada', 'bob', 'cyd']) {
      const elicit = ({ message }: { message: string }) => this.#isAsked(owner, message);
      if (!voice) this.#callers.set(owner, { speaker: this.#session.join({ elicit }) });
      else {
        const principal = callers === 'principals' ? owner : undefined;
        // Questions between calls of one client are held for longer.
        const client = seed % 2 === 0 ? 'one' : undefined;
        this.#callers.set(owner, { speaker: voice, behalf: { ...behalf(elicit), principal, client } });
      }
    }
  }

  /** So many things happen, and then all that was begun comes to its end. */
  async live(events: number): Promise<void> {
    for (let each = 0; each < events; each += 1) await this.#happen(this.#pick(EVENTS));
    // Nothing may take longer than a question that is held, for each of those that wait for each other.
    for (let each = 0; each < 2000 && this.settled < this.#calls; each += 1) {
      await this.#happen(this.#pick(['serve', 'answer', 'time']));
    }
  }

  get calls(): number {
    return this.#calls;
  }

  async #happen(event: (typeof EVENTS)[number]): Promise<void> {
    switch (event) {
      case 'call':
        this.#call(this.#pick([...this.#callers.keys()]));
        break;
      case 'serve':
        this.#serve();
        break;
      case 'answer':
        this.#thinking.splice(Math.floor(this.#chance() * this.#thinking.length), 1)[0]?.();
        break;
      case 'cancel':
        this.#pick([...this.#overs])?.abort();
        break;
      case 'take back':
        this.#takeBack();
        break;
      case 'time':
        this.#session.clock.advance(this.#pick([10, 50, 500]));
    }
    await settle();
    this.#hear();
    const now = this.#session.clock.now();
    for (const [call, due] of this.#unsent) if (now > due) this.mistakes.push(`call ${call} waited too long`);
  }

  #call(owner: string): void {
    const over = new AbortController();
    this.#overs.add(over);
    this.#calls += 1;
    const { signal } = over;
    const { speaker, behalf } = this.#callers.get(owner)!;
    const number = this.#calls;
    const params = { name: this.#pick(Object.keys(this.#tools)), arguments: { owner, number } };
    // With `queue` every call waits for all others, as it says.
    if (this.#policy !== 'queue') {
      const neverAsks = params.name === 'echo' || params.name === 'slow';
      // A call that never asks may be suspected once, by mistake.
      this.#unsent.set(number, this.#session.clock.now() + (neverAsks ? 1000 : 30_000));
    }
    const call = { ...toolCall('', { timeoutMs: 10_000_000, signal, behalf }), params };
    const note = () => {
      this.settled += 1;
      this.#overs.delete(over);
      this.#unsent.delete(number);
    };
    void speaker.call(call).then(note, note);
  }

  /** What the client has said. Where the server pays no heed to a cancellation, the call goes on and asks. */
  #hear(): void {
    for (const message of this.#session.said()) {
      const { id, method, params } = message as { id: RequestId; method?: string; params: JsonObject };
      if (method === 'tools/call') {
        const { owner, number } = params['arguments'] as { owner: string; number: number };
        this.#unsent.delete(number);
        const steps = [...this.#tools[params['name'] as string]!];
        this.#running.set(id, { id, owner, steps, open: new Set() });
      } else if (method === 'notifications/cancelled') {
        if (this.#isObedient) this.#running.delete(params['requestId'] as RequestId);
      } else if (method === undefined) {
        for (const { open } of this.#running.values()) open.delete(id as string);
        if (message['error']) this.refused += 1;
        else this.answered += 1;
      }
    }
  }

  /** One of the calls that do not wait for an answer goes on. */
  #serve(): void {
    const mayGoOn = ({ open, steps }: Running) => open.size === 0 || steps[0] === 'more';
    const call = this.#pick([...this.#running.values()].filter(mayGoOn));
    if (!call) return;
    const step = call.steps.shift();
    if (step === 'done') return this.#session.done(call.id);
    if (step === undefined) {
      this.#running.delete(call.id);
      return this.#session.done(call.id);
    }
    for (let count = { work: 0, ask: 1, two: 2, more: 1 }[step]; count > 0; count -= 1) {
      this.#questions += 1;
      const id = `${call.owner} ${this.#questions}`;
      call.open.add(id);
      this.#session.elicit([id]);
    }
  }

  /** The server no longer wants an answer, and goes on without. */
  #takeBack(): void {
    const call = this.#pick([...this.#running.values()].filter(({ open }) => open.size > 0));
    for (const id of call?.open ?? []) this.#session.takeBack(id);
    call?.open.clear();
  }

  #isAsked(owner: string, message: string): Promise<{ action: 'decline' }> {
    if (!message.startsWith(`question ${owner} `)) this.mistakes.push(`${owner} was asked ${message}`);
    return new Promise((resolve) => this.#thinking.push(() => resolve({ action: 'decline' })));
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#chance() * from.length)]!;
  }
}

const EVENTS = [
  ...(['call', 'call', 'serve', 'serve', 'serve', 'serve', 'answer', 'answer'] as const),
  ...(['cancel', 'take back', 'time'] as const),
];

/** The same numbers for the same seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

type Callers = 'voices' | 'those for whom a voice speaks' | 'principals';

function behalf(elicit: (question: { message: string }) => Promise<InputResponse>): OnBehalfOf {
  return {
    owner: {},
    info: undefined,
    capabilities: { elicitation: { form: {} } },
    answer: ({ params }) => elicit(params as { message: string }),
  };
}

describe.each(['adaptive', 'queue', 'refuse'] as const)('%s, whatever happens', (policy) => {
  it.each<Callers>(['voices', 'those for whom a voice speaks'])(
    'no question of %s reaches the owner of another call, and everything ends',
    async (callers) => {
      let answered = 0;
      for (let seed = 1; seed <= 60; seed += 1) {
        const world = new World(policy, callers, seed);
        await world.live(150);
        expect([seed, world.mistakes]).toEqual([seed, []]);
        expect([seed, world.settled]).toEqual([seed, world.calls]);
        answered += world.answered;
      }
      // It proves nothing where nobody is asked.
      expect(answered).toBeGreaterThan(60);
    },
  );
});

describe.each(['adaptive', 'queue', 'refuse'] as const)('S2: %s, whatever happens', (policy) => {
  it('no question reaches another principal, not even one that is asked late, and calls of others run', async () => {
    let [refused, settled] = [0, 0];
    for (let seed = 1; seed <= 60; seed += 1) {
      const world = new World(policy, 'principals', seed);
      await world.live(150);
      expect([seed, world.mistakes]).toEqual([seed, []]);
      expect([seed, world.settled]).toEqual([seed, world.calls]);
      refused += world.refused;
      settled += world.settled;
    }
    expect(refused).toBeGreaterThan(60);
    expect(settled).toBeGreaterThan(60);
  });
});
