import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import {
  type Cluster,
  type ClusterStore,
  type JoinClusterOptions,
  joinCluster,
  memoryStore,
} from '@isthmus/sdk/internal/transport/cluster.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../../../test/support/until.js';
import { ClusterControl } from '../../src/cluster/cluster-control.js';
import type { LogLine } from '../../src/log-tail.js';
import { createLogTail } from '../../src/log-tail.js';

const secret = 'a secret of a test, with enough characters';
const NEVER = new AbortController().signal;

describe('stop --all', () => {
  it('holds for processes that come later, until start --all', async () => {
    const store = memoryStore();
    const [a, b] = [await openDesk(store), await openDesk(store)];
    await allKnow(a, b);
    await a.control.askAll({ action: 'stop', server: 'notes' });
    expect([a.done, b.done]).toEqual([['stop notes'], ['stop notes']]);
    // The process that was asked ends; the other one tells those that come.
    await a.leave();
    const c = await openDesk(store);
    await eventually(() => expect(c.done).toEqual(['stop notes']));
    expect(c.warnings).toEqual(['notes is off, because of an earlier isthmus stop --all']);
    await allKnow(b, c);
    await b.control.askAll({ action: 'start', server: 'notes' });
    expect(c.done).toEqual(['stop notes', 'start notes']);
    await b.control.askAll({ action: 'stop', server: 'other' });
    const d = await openDesk(store);
    // What is on is not started: the configuration of the newcomer may disable it.
    await eventually(() => expect(d.done).toEqual(['stop other']));
  });

  it('reaches a process that was still starting when it came', async () => {
    const store = memoryStore();
    const a = await openDesk(store);
    await a.control.askAll({ action: 'stop', server: 'notes' });
    const cluster = await join(store);
    await eventually(() => expect(a.cluster.members.all.length).toBe(2));
    const b = await openDesk(store, {}, cluster);
    await eventually(() => expect(b.done).toEqual(['stop notes']));
  });
});

describe('logs --all', () => {
  it('are the lines of all processes by time, each with the name of its process', async () => {
    const store = memoryStore();
    const [a, b] = [await openDesk(store), await openDesk(store)];
    await allKnow(a, b);
    for (const [at, { tail }] of [a, b, a].entries()) tail.add(line(`line ${at}`, 1000 + at));
    expect(await read(a.control.logs('notes', { lines: 2, follow: false }, NEVER))).toEqual([
      [b.id, 'line 1'],
      [a.id, 'line 2'],
    ]);
    const end = new AbortController();
    const followed = a.control
      .logs(undefined, { lines: 0, follow: true }, end.signal)
      [Symbol.asyncIterator]();
    const next = followed.next();
    await eventually(() => {
      b.tail.add(line('later', 2000));
      expect(b.follows).toBe(1);
    });
    expect((await next).value).toMatchObject({ replica: b.id, text: 'later' });
    end.abort();
    await followed.return?.(undefined);
    await eventually(() => expect(b.ended).toBe(1));
  });

  it('say which process could not be asked', async () => {
    const store = memoryStore();
    const a = await openDesk(store);
    const b = await openDesk(store, { advertise: 'http://127.0.0.1:1' });
    await allKnow(a, b);
    a.tail.add(line('here', 1000));
    const found = await read(a.control.logs('notes', { lines: 10, follow: false }, NEVER));
    expect(found).toEqual([
      [a.id, 'here'],
      [b.id, expect.stringMatching(/^the lines of \w+ on \S+ cannot be read: .*ECONNREFUSED/)],
    ]);
  });
});

describe('the operator is told', () => {
  it('of a process that cannot be reached at the address that it advertises', async () => {
    const store = memoryStore();
    const a = await openDesk(store);
    const b = await openDesk(store, { advertise: 'http://127.0.0.1:1' });
    await eventually(() => expect(a.warnings.length).toBe(1));
    expect(a.warnings[0]).toMatch(
      new RegExp(
        `^the replica ${b.id} on \\S+ cannot be reached at http://127.0.0.1:1, so its sessions fail here`,
      ),
    );
    expect(a.warnings[0]).toContain('Check --cluster-advertise there, and the firewall');
    expect(b.warnings).toEqual([]);
  });

  it('of another cluster with the same name and another secret', async () => {
    const store = memoryStore();
    const a = await openDesk(store);
    const other = await join(store, { secret: 'another secret of a test, long enough' });
    await eventually(() => expect(a.warnings.length).toBe(1));
    expect(a.warnings[0]).toBe(
      `a process (${other.members.self}) of the cluster default has another secret, so it does not belong to this one. Give both the same secret, or different names with --cluster-name`,
    );
    expect(a.cluster.members.strangers).toEqual([other.members.self]);
    expect(a.cluster.members.all.length).toBe(1);
  });

  it('of another definition of a server, and of another version of the protocol', async () => {
    const store = memoryStore();
    const [a, b] = [await openDesk(store), await openDesk(store)];
    await allKnow(a, b);
    await a.cluster.members.say({ servers: { notes: 'x', same: 's' } });
    await b.cluster.members.say({ servers: { notes: 'y', same: 's', more: 'z' }, protocol: 9 });
    await eventually(() => expect(a.warnings.length).toBe(2));
    expect(a.warnings.join('\n')).toContain(
      'has another definition of notes: they do not share its processes. Use the same configuration file',
    );
    expect(a.warnings.join('\n')).toMatch(/has Isthmus \S+, and this one \S+: they do not hand requests/);
  });
});

interface TestControl {
  readonly control: ClusterControl;
  readonly cluster: Cluster;
  readonly id: string;
  readonly tail: ReturnType<typeof createLogTail>;
  readonly done: string[];
  readonly warnings: string[];
  readonly follows: number;
  readonly ended: number;
  leave(): Promise<void>;
}

async function join(store: ClusterStore, options: Partial<JoinClusterOptions> = {}): Promise<Cluster> {
  const cluster = await joinCluster({ store, secret, ...options });
  onTestFinished(() => cluster.leave());
  return cluster;
}

async function openDesk(
  store: ClusterStore,
  options: Partial<JoinClusterOptions> = {},
  joined?: Cluster,
): Promise<TestControl> {
  const cluster = joined ?? (await join(store, options));
  const done: string[] = [];
  const warnings: string[] = [];
  const tail = createLogTail();
  const counts = { follows: 0, ended: 0 };
  const act = async (what: string) => void done.push(what);
  const control = new ClusterControl({
    cluster,
    perform: ({ action, server }) => act(`${action} ${server}`),
    controlled: {
      stop: (name) => act(`stop ${name}`),
      start: (name) => act(`start ${name}`),
      async *logs(name, wanted, signal) {
        if (wanted.follow) counts.follows += 1;
        yield* tail.read(name, wanted, signal);
        if (wanted.follow) counts.ended += 1;
      },
    },
    warn: (text) => warnings.push(text),
    clock: systemClock,
  });
  onTestFinished(() => control.close());
  return {
    ...{ control, cluster, tail, done, warnings, id: cluster.members.self },
    get follows() {
      return counts.follows;
    },
    get ended() {
      return counts.ended;
    },
    async leave() {
      control.close();
      await cluster.leave();
    },
  };
}

function line(text: string, at: number): LogLine {
  return { server: 'notes', at, source: 'stderr', text };
}

async function read(lines: AsyncIterable<LogLine>): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const { replica, text } of lines) found.push([replica, text]);
  return found;
}

async function allKnow(...all: readonly TestControl[]): Promise<void> {
  await eventually(() => {
    for (const { cluster } of all) expect(cluster.members.all.length).toBe(all.length);
  });
}
