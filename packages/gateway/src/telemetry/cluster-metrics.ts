import type { Cluster } from '@isthmus/sdk/internal/cluster/cluster.js';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ServerPlacement } from '../placement/placement.js';

/** The cluster as this process sees it, for Prometheus, which adds up. */
export interface ClusterMetrics {
  render(): Promise<string>;
}

/** `placements`: where the processes of the servers are. The demo has none. */
export function createClusterMetrics(
  cluster: Cluster,
  placements: () => Readonly<Record<string, ServerPlacement>> = () => ({}),
): ClusterMetrics {
  const registry = new Registry();
  const registers = [registry];
  const { members, sessions, counts, store, storeKind, news, events } = cluster;
  const storeName = storeKind === 'redis' ? 'Redis' : 'the store';
  /** A counter whose value is counted elsewhere. */
  const counted = (name: string, help: string, read: () => number) =>
    new Counter({
      ...{ name, help, registers },
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  const labelled = (name: string, help: string, label: string, read: () => Record<string, number>) =>
    new Counter({
      ...{ name, help, labelNames: [label], registers },
      collect() {
        this.reset();
        for (const [value, count] of Object.entries(read())) this.inc({ [label]: value }, count);
      },
    });
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      ...{ name, help, registers },
      collect() {
        this.set(read());
      },
    });

  new Gauge({
    name: 'isthmus_cluster_members',
    help: 'Processes of the cluster that live, as this one knows them.',
    labelNames: ['state'],
    registers,
    collect() {
      for (const state of ['ready', 'draining'] as const) {
        this.set({ state }, members.all.filter((member) => member.state === state).length);
      }
    },
  });
  gauge('isthmus_cluster_sessions', 'Legacy sessions of this process.', () => sessions.size);
  gauge('isthmus_cluster_store_up', `Whether ${storeName} answers.`, () => (store.health.isUp ? 1 : 0));
  counted(
    'isthmus_cluster_handed_on_total',
    'Requests that this process has handed to another one.',
    () => counts.handedOn,
  );
  counted(
    'isthmus_cluster_received_total',
    'Requests that other processes have handed to this one.',
    () => counts.received,
  );
  counted(
    'isthmus_cluster_not_reached_total',
    'Requests whose session could not be reached in time.',
    () => counts.notReached,
  );
  labelled(
    'isthmus_cluster_adoptions_total',
    'Sessions of other processes that this one was to take over.',
    'outcome',
    () => ({ adopted: counts.adopted, refused: counts.notAdopted }),
  );
  labelled('isthmus_cluster_news_total', 'Messages to all processes.', 'direction', () => ({
    sent: news.counts.sent,
    received: news.counts.received,
  }));
  counted(
    'isthmus_cluster_events_dropped_total',
    `Events that were not written to ${storeName}, so that their streams cannot be resumed elsewhere.`,
    () => events?.dropped ?? 0,
  );
  const carrySeconds = new Histogram({
    name: 'isthmus_cluster_carry_seconds',
    help: 'Time from handing a request to another process until its answer begins.',
    labelNames: ['outcome'],
    buckets: [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
    registers,
  });
  cluster.onHandedOn = (ms, isDone) =>
    carrySeconds.observe({ outcome: isDone ? 'done' : 'failed' }, ms / 1000);
  new Gauge({
    name: 'isthmus_cluster_homes',
    help: 'Whether this process is the home of a server that all clients share.',
    labelNames: ['server'],
    registers,
    collect() {
      this.reset();
      for (const [server, { home }] of Object.entries(placements())) {
        if (home !== undefined) this.set({ server }, members.isSelf(home) ? 1 : 0);
      }
    },
  });
  const seconds = new Histogram({
    name: 'isthmus_cluster_store_seconds',
    help: `Time that ${storeName} took for an operation.`,
    labelNames: ['op', 'outcome'],
    buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
    registers,
  });
  store.onOperation = (op, ms, isDone) =>
    seconds.observe({ op, outcome: isDone ? 'done' : 'failed' }, ms / 1000);
  return { render: () => registry.metrics() };
}
