import { type Clock, within } from '../async/clock.js';
import { createDeferred } from '../async/deferred.js';
import { onDeparture } from '../async/departure.js';
import type { ShutdownTimes } from './child.js';
import { isTreeGone, signalTree } from './kill-tree.js';

/** The end of one tree of processes. Both promises are bounded, and say whether nothing of it is left. */
export interface TreeEnd {
  /** The ladder: end of input, SIGTERM, SIGKILL. It runs once, however often it is asked for. */
  begin(): Promise<boolean>;
  /** SIGKILL now, whichever step the ladder is on. */
  hurry(): Promise<boolean>;
}

export interface Tree {
  readonly pid: number;
  /** Settles when the child itself, which leads the tree, has exited. */
  readonly leaderExit: Promise<unknown>;
  endInput(): void;
}

export function createTreeEnd(tree: Tree, times: ShutdownTimes, clock: Clock): TreeEnd {
  const urgent = createDeferred<void>();
  const impatient = createDeferred<void>();
  let stepMs = Number.POSITIVE_INFINITY;
  let leaderGone = false;
  let hurried = false;
  let ended = false;
  let run: Promise<boolean> | undefined;
  void tree.leaderExit.then(() => {
    leaderGone = true;
  });

  const begin = () => {
    run ??= descend().finally(() => {
      ended = true;
      stopListening();
    });
    return run;
  };

  async function descend(): Promise<boolean> {
    tree.endInput();
    await within(
      clock,
      Math.min(times.closeMs, stepMs),
      Promise.race([tree.leaderExit, urgent.promise, impatient.promise]),
    );
    // What is left without its leader gets a moment to follow, and not the whole patience again.
    if (leaderGone && !hurried && (await isGoneWithin(REST_MS, urgent.promise))) return true;
    if (!hurried) {
      signalTree(tree.pid, 'SIGTERM');
      if (await isGoneWithin(Math.min(times.termMs, stepMs), urgent.promise)) return true;
    }
    signalTree(tree.pid, 'SIGKILL');
    return isGoneWithin(times.killMs, NEVER);
  }

  /** Waits for the leader by its event and for the rest by looking, since nobody tells. */
  async function isGoneWithin(ms: number, interrupt: Promise<void>): Promise<boolean> {
    const began = clock.now();
    await within(clock, ms, Promise.race([tree.leaderExit, interrupt]));
    if (!leaderGone) return false;
    let left = ms - (clock.now() - began);
    for (let pause = FIRST_LOOK_MS; ; pause = Math.min(pause * 2, LAST_LOOK_MS)) {
      if (await isTreeGone(tree.pid)) return true;
      if (left <= 0) return false;
      if (await within(clock, Math.min(pause, left), interrupt)) return false;
      left -= pause;
    }
  }

  const hurry = () => {
    // Once a tree is gone its number may belong to somebody else.
    if (!ended) signalTree(tree.pid, 'SIGKILL');
    hurried = true;
    urgent.resolve();
    return begin();
  };

  // When our own process has to be gone soon, the ladder is as short as that, whoever has yet to ask for it.
  const stopListening = onDeparture(({ termMs, killMs, ...departure }) => {
    stepMs = departure.stepMs;
    const later = (ms: number, action: () => unknown) =>
      clock.after(ms, () => void (ended || action()), { background: true });
    later(termMs, () => {
      impatient.resolve();
      return begin();
    });
    later(killMs, hurry);
  });

  return { begin, hurry };
}

const REST_MS = 250;
const FIRST_LOOK_MS = 5;
const LAST_LOOK_MS = 100;
const NEVER = new Promise<void>(() => {});
