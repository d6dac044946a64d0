import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { expect, onTestFinished } from 'vitest';
import { FakeClock } from '../../../../../test/support/fake-clock.js';
import { type BridgeOptions, createBridge } from '../../../src/bridge/index.js';
import type { UpstreamOptions } from '../../../src/client/connect.js';
import { type Bridge, type Served, type ServeOptions, serve, type Upstream } from '../../../src/index.js';
import { type FarOptions, FarServer, type Heard } from './far.js';
import { type Era, type Frame, type Message, settle } from './frames.js';
import { farProblems } from './judge-far.js';
import { nearProblems } from './judge-near.js';
import { NearLink } from './near.js';

export interface BetweenOptions extends Omit<FarOptions, 'era'> {
  readonly bridge?: BridgeOptions & UpstreamOptions;
  readonly serving?: ServeOptions;
  /** Messages that match it belong to an extension, which the judges do not know. */
  readonly foreign?: RegExp;
  /** How the bridge reaches the server; by default a connection for each who needs one. */
  readonly upstream?: (far: FarServer, clock: FakeClock) => Upstream;
}

/** A bridge with a scripted peer on either side. */
export interface Between {
  readonly bridge: Bridge;
  readonly near: NearLink;
  readonly far: FarServer;
  readonly served: Served;
  readonly clock: FakeClock;
  /** What was dropped on either side, as watchers are told. */
  readonly dropped: readonly { readonly why: string; readonly message: unknown }[];
}

/**
 * Puts a bridge before a server of the given era. When the test is over, everything that has crossed is judged,
 * old ids and tokens are shown to mean nothing any more, and all is closed.
 */
export async function bridgeTo(era: Era, options: BetweenOptions = {}): Promise<Between> {
  const { bridge: bridgeOptions, serving, upstream, foreign, ...farOptions } = options;
  const clock = new FakeClock();
  const far = new FarServer({ era, ...farOptions });
  const bridge = createBridge(upstream?.(far, clock) ?? far, { clock, cache: false, ...bridgeOptions });
  const near = new NearLink();
  const served = await serve(bridge, near, { clock, ...serving });
  const dropped: { why: string; message: unknown }[] = [];
  const note = (event: unknown) => void dropped.push(event as { why: string; message: unknown });
  subscribe('isthmus:dropped', note);
  const between: Between = { bridge, near, far, served, clock, dropped };
  onTestFinished(async () => {
    let stale: string[] = [];
    try {
      stale = await framesAboutOldNames(between);
    } finally {
      await Promise.all([served.close({ graceMs: 0 }), settle().then(() => clock.advance(0))]);
      await bridge.close();
      await settle();
      unsubscribe('isthmus:dropped', note);
    }
    expect(problemsIn(between).filter((problem) => !foreign?.test(problem))).toEqual([]);
    expect(stale, 'what ids and tokens of calls that are over still lead to').toEqual([]);
    expect(far.stillOpen.length, 'connections to the server that the bridge left open').toBe(0);
  });
  return between;
}

/** The next frame for the server, which the bridge sends after a while. */
export async function heardLater({ far, clock }: Pick<Between, 'far' | 'clock'>): Promise<Heard> {
  let isOver = false;
  const heard = far.next().finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await settle();
    clock.advance(100);
  }
  return heard;
}

export function problemsIn({ near, far }: Between): string[] {
  return [
    ...near.clients.flatMap(({ frames, revision }) => (revision ? nearProblems(frames, revision) : [])),
    ...far.connections.flatMap(({ frames, revision }) => farProblems(frames, revision)),
  ];
}

/** Answers, progress and cancellations that come too late lead to nothing: nobody remembers what they name. */
async function framesAboutOldNames({ near, far }: Between): Promise<string[]> {
  await settle();
  const sides = [
    ...near.clients.map((client) => client.frames),
    ...far.connections.map(({ frames }) => frames),
  ];
  const before = sides.map((frames) => frames.length);
  for (const connection of far.stillOpen) {
    for (const { id, params } of ended(connection.frames, 'client')) {
      connection.send({ id, result: { resultType: 'complete' } });
      if (params?._meta?.progressToken === undefined) continue;
      connection.notify('notifications/progress', {
        progressToken: params._meta.progressToken,
        progress: 1e9,
      });
    }
    for (const { id } of ended(connection.frames, 'server')) {
      connection.notify('notifications/cancelled', { requestId: id });
    }
  }
  for (const client of near.clients) {
    if (!client.isOpen) continue;
    for (const { id } of ended(client.frames, 'client')) client.cancel(id!);
    for (const { id } of ended(client.frames, 'server')) client.send({ jsonrpc: '2.0', id, result: {} });
  }
  await settle();
  const fromBridge = [...near.clients.map(() => 'server'), ...far.connections.map(() => 'client')];
  return sides.flatMap((frames, index) =>
    frames
      .slice(before[index])
      .filter(({ from }) => from === fromBridge[index])
      .map(({ message }) => JSON.stringify(message)),
  );
}

/** The requests of one end that were answered or taken back, and whose ids are not in use again. */
function ended(frames: readonly Frame[], by: Frame['from']): Message[] {
  const open = new Map<string, Message>();
  const over = new Map<string, Message>();
  for (const { from, message } of frames) {
    const { id, method, params } = message;
    if (from === by && method !== undefined && id !== undefined) {
      open.set(JSON.stringify(id), message);
      over.delete(JSON.stringify(id));
    }
    const isEnd = from === by ? method === 'notifications/cancelled' : method === undefined;
    const key = JSON.stringify(from === by ? params?.requestId : id);
    const request = isEnd ? open.get(key) : undefined;
    if (request) over.set(key, request);
  }
  return [...over.values()];
}
