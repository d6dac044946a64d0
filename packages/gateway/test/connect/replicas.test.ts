import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import type { Cluster } from '@isthmus/sdk/internal/cluster/cluster.js';
import { createClusterKeys } from '@isthmus/sdk/internal/cluster/cluster-keys.js';
import { joinCluster, memoryStore } from '@isthmus/sdk/internal/transport/cluster.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { eventually } from '../../../../test/support/until.js';
import { clusterLoginStore } from '../../src/connect/shared-logins.js';
import { acceptedAs, Browser, callAs, questionIn } from '../support/connect-page.js';
import { company, companyHouse, remote, upstreamStage } from '../support/personal-stage.js';
import type { House } from '../support/secured-gateway.js';

const PATH = '/mcp/issues';
const SECRET = 'a secret of a test, with enough characters';

/** Gateways with one store, behind a balancer that sends each request to any of them. */
async function severalHouses(count = 2) {
  const us = await company();
  const state = { account: 'user-1' };
  const upstream = await upstreamStage({ account: () => state.account });
  const store = memoryStore();
  const clusters: Cluster[] = [];
  for (let at = 0; at < count; at += 1) clusters.push(await joinCluster({ secret: SECRET, store }));
  await eventually(() => {
    for (const { members } of clusters) if (members.all.length < count) throw new Error('not all joined');
  });
  const unit = remote('issues', upstream.server.url, { mode: 'per-user' });
  const connect = { publicUrl: 'https://gateway.example' };
  const houses: House[] = [];
  for (const cluster of clusters) houses.push(await companyHouse(us, [unit], { cluster, connect }));
  onTestFinished(async () => {
    for (const { operation } of houses) await operation.close({ graceMs: 0 });
    for (const cluster of clusters) await cluster.leave();
  });
  return { us, state, ...upstream, store, clusters, houses };
}

/** A browser whose requests to the gateway reach its members in turn. */
class BalancedBrowser extends Browser {
  #count = 0;
  readonly #origins: readonly string[];

  constructor(origins: readonly string[]) {
    super();
    this.#origins = origins;
  }

  override resolve(url: URL): URL {
    if (url.host !== 'gateway.example') return url;
    this.#count += 1;
    return new URL(url.pathname + url.search, this.#origins[this.#count % this.#origins.length]);
  }
}

describe('two members of a cluster', () => {
  it.each([0, 1])(
    'open the page for each other, and have the login in common (begun at %i)',
    async (first) => {
      const { us, state, houses } = await severalHouses();
      const [here, there] = first === 0 ? [houses[0]!, houses[1]!] : [houses[1]!, houses[0]!];
      const token = await us.tokenOf('alice');
      state.account = 'alice-there';
      const question = questionIn(await callAs(here, PATH, token, 'connect'));
      const browser = new BalancedBrowser(houses.map(({ origin }) => origin));
      const code = /code (\S+)\./.exec(question.message)![1]!;
      const consent = await browser.send(await browser.open(question.url), { code });
      expect(consent.text).toContain('You are <b>jwt:https://login.example.com|alice</b>');
      const end = await browser.send(consent);
      expect(end.text).toContain('issues is connected.');
      // The call waits at one of them, and any of them takes its next round.
      const answer = await acceptedAs(there, PATH, token, 'connect', question);
      expect(answer.json.result.content[0].text).toContain('issues is connected');
      for (const house of houses) {
        const called = await callAs(house, PATH, token, 'whoami');
        expect(called.json.result.content?.[0].text).toBe('alice-there');
      }
      // Nobody else has it.
      const bob = await callAs(there, PATH, await us.tokenOf('bob'), 'whoami');
      expect(bob.json.result).toMatchObject({ resultType: 'input_required' });
    },
  );

  it('a browser with pages of both comes back to the one that its state names, also by way of a third', async () => {
    const { us, houses } = await severalHouses(3);
    const origins = houses.map(({ origin }) => origin);
    /** All that comes back reaches the third member. */
    const browser = new Browser();
    browser.resolve = (url) => {
      if (url.host !== 'gateway.example') return url;
      return new URL(
        url.pathname + url.search,
        origins[url.pathname.startsWith('/connect/callback') ? 2 : 0],
      );
    };
    const consents: { text: string; url: string }[] = [];
    for (const [at, name] of ['alice', 'bob'].entries()) {
      const question = questionIn(await callAs(houses[at]!, PATH, await us.tokenOf(name), 'connect'));
      const code = /code (\S+)\./.exec(question.message)![1]!;
      consents.push(await browser.send(await browser.open(question.url), { code }));
    }
    // The browser has cookies of two members now.
    for (const consent of consents) {
      expect((await browser.send(consent)).text).toContain('issues is connected.');
    }
  });

  it('the page opens nothing for another browser, at either of them', async () => {
    const { us, houses } = await severalHouses();
    const question = questionIn(await callAs(houses[0]!, PATH, await us.tokenOf('alice'), 'connect'));
    const origins = houses.map(({ origin }) => origin);
    const browser = new BalancedBrowser(origins);
    const code = /code (\S+)\./.exec(question.message)![1]!;
    const consent = await browser.send(await browser.open(question.url), { code });
    for (let at = 0; at < 2; at += 1) {
      expect((await new BalancedBrowser(origins).send(consent)).status).toBe(403);
    }
  });
});

describe('logins in the store of a cluster', () => {
  async function storeOf() {
    const store = memoryStore();
    const cluster = await joinCluster({ secret: SECRET, store });
    onTestFinished(() => cluster.leave());
    return { store, cluster, logins: clusterLoginStore(cluster) };
  }
  const record = (reason: string) => ({ v: 1, reason, token: undefined }) as never;

  it('are sealed, and cannot be put in the place of each other', async () => {
    const { store, logins } = await storeOf();
    await logins.write('a', record('the secret of a'));
    const found = await store.claim('login a', { by: 'logins', ttlMs: 1000 });
    const { value, epoch } = found as { value: Uint8Array; epoch: number };
    expect(Buffer.from(value).toString('latin1')).not.toContain('secret');
    await store.put('login b', { by: 'logins', epoch, value, ttlMs: 1000 });
    expect(await logins.read('b')).toBeUndefined();
    expect(await logins.read('a')).toMatchObject({ reason: 'the secret of a' });
    await logins.delete('a');
    expect(await logins.read('a')).toBeUndefined();
  });

  it('stay when the secret of the cluster is replaced, if they are used before the old one is dropped', async () => {
    const [old, next] = [SECRET, 'the next secret of a test, long enough'];
    const store = memoryStore();
    const withSecrets = (...secrets: string[]) =>
      clusterLoginStore({ store, keys: createClusterKeys(secrets) });
    await withSecrets(old).write('used', record('used'));
    await withSecrets(old, next).write('unused', record('unused'));
    expect(await withSecrets(next, old).read('used')).toMatchObject({ reason: 'used' });
    const last = withSecrets(next);
    expect(await last.read('used')).toMatchObject({ reason: 'used' });
    expect(await last.read('unused')).toBeUndefined();
  });

  it('are worked on by one member at a time', async () => {
    const { logins } = await storeOf();
    let inside = 0;
    let most = 0;
    const work = () =>
      logins.locked('a', async () => {
        inside += 1;
        most = Math.max(most, inside);
        await new Promise((resolve) => setImmediate(resolve));
        inside -= 1;
      });
    await Promise.all(Array.from({ length: 5 }, work));
    expect(most).toBe(1);
  });

  it('are kept by one member, also from a member that comes back after its lock was taken over', async () => {
    const clock = new FakeClock();
    const { cluster } = await storeOf();
    const logins = clusterLoginStore({ store: memoryStore({ clock }), keys: cluster.keys }, clock);
    const order: string[] = [];
    const work = (name: string) => {
      const [entered, left] = [createDeferred<void>(), createDeferred<void>()];
      const over = logins.locked('a', async () => {
        order.push(`${name} begins`);
        entered.resolve();
        await left.promise;
        order.push(`${name} ends`);
      });
      return { entered: entered.promise, leave: () => left.resolve(), over };
    };
    const slow = work('slow');
    await slow.entered;
    clock.advance(30_001);
    const second = work('second');
    await second.entered;
    slow.leave();
    await slow.over;
    const third = work('third');
    // It asks for the lock, and waits.
    await expect.poll(() => clock.waiting).toBeGreaterThan(0);
    expect(order).toEqual(['slow begins', 'second begins', 'slow ends']);
    second.leave();
    await second.over;
    clock.advance(50);
    await third.entered;
    third.leave();
    await third.over;
    expect(order).toEqual([
      ...['slow begins', 'second begins', 'slow ends', 'second ends'],
      ...['third begins', 'third ends'],
    ]);
  });
});
