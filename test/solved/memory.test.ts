/** Nothing is left of a call. `npm run soak -- --serve` makes a million of them and more. */
import { expect, it } from 'vitest';
import { childrenOf, zombiesOf } from '../../packages/sdk/test/support/host-lifetime.js';
import { legacy, legacyCall, modernCall, openSession } from '../../packages/sdk/test/support/http-server.js';
import { linesUnit, openWatched, pidsOf } from './support/gateway.js';
import { heapInUse, lean, often } from './support/load.js';

/** Of the heap, in bytes. 200 bytes that each call leaves behind would be found. */
const NOISE = 2e6;
/** A few seconds where nobody else needs the processor. */
const LONG = 300_000;

it(
  'D-5 supercorp-ai/supergateway#108: 10,000 stateless calls, each client met for the first time, have one child and leave no memory',
  async () => {
    const gateway = await openWatched([linesUnit('far')], { endpoint: { legacy: 'stateless' } });
    const post = lean(gateway.url);
    const call = async (at: number) => {
      const args = { text: `text ${at}` };
      // By turns: a legacy request without a session, and a modern one.
      const request = at % 2 === 0 ? legacy(legacyCall(at, 'echo', args)) : modernCall(at, 'echo', args);
      const answer = await post(request);
      if (!answer.includes(`"text ${at}"`)) throw new Error(`call ${at}: ${answer}`);
    };
    await often(1000, call);
    const [pid] = pidsOf(await gateway.status(), 'far');
    const children = childrenOf(process.pid);
    const before = await heapInUse();
    await often(10_000, call);
    expect((await heapInUse()) - before).toBeLessThan(NOISE);
    expect(childrenOf(process.pid)).toEqual(children);
    expect(zombiesOf(process.pid)).toEqual([]);
    expect(pidsOf(await gateway.status(), 'far')).toEqual([pid]);
    expect(gateway.seen.kinds()).toEqual(['start', 'ready', 'receipt']);
  },
  LONG,
);

it(
  'D-12 punkpeye/mcp-proxy#72: 30,000 calls in one session leave no memory',
  async () => {
    const gateway = await openWatched([linesUnit('far')]);
    const session = await openSession(gateway.url);
    const post = lean(gateway.url);
    const call = async (at: number) => {
      const answer = await post(legacy(legacyCall(at, 'echo', { text: `text ${at}` }), session.headers));
      if (!answer.includes(`"text ${at}"`)) throw new Error(`call ${at}: ${answer}`);
    };
    // Until what the session keeps for clients that come back is as much as it will ever be.
    await often(5000, call);
    const before = await heapInUse();
    await often(25_000, call);
    expect((await heapInUse()) - before).toBeLessThan(NOISE);
    expect(gateway.gateway.unit('far').bridge.upstreamSessions).toBe(1);
  },
  LONG,
);
