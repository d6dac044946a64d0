import type { Cluster } from '@isthmus/sdk/internal/cluster/cluster.js';
import type { Member } from '@isthmus/sdk/internal/cluster/member-list.js';
import type { PeerRequest } from '@isthmus/sdk/internal/transport/peers/envelope.js';
import { peersOf } from '@isthmus/sdk/internal/transport/peers/peers.js';
import { type MetricsOfReplica, mergeMetrics } from '../telemetry/merge-metrics.js';

/** The page `/metrics`. */
export interface MetricsPage {
  readonly type: string;
  readonly text: string;
}

/**
 * The page `/metrics`, with the samples of all workers of the same parent: a connection gets any of them. Without workers
 * it is the page of this process. `own` makes that one; other workers get it until `closed` settles.
 */
export function metricsOfWorkers(
  cluster: Cluster,
  own: () => Promise<MetricsPage>,
  closed: Promise<void>,
): () => Promise<MetricsPage> {
  const { members } = cluster;
  const { parent } = members.own;
  if (parent === undefined) return own;
  const { client, server } = peersOf(cluster);
  const stop = server.handle(SERVICE, (exchange) => {
    own().then(
      ({ type, text }) => exchange.respond(200, { 'content-type': type }, text),
      () => exchange.respond(500, {}, ''),
    );
  });
  void closed.then(stop);

  const ask = async (member: Member): Promise<MetricsOfReplica> => {
    const { id: replica } = member;
    const answer = await client.ask(member, REQUEST, WAIT_MS).catch(() => undefined);
    if (answer?.status !== 200) return { replica, text: describe(0) };
    return { replica, text: `${describe(1)}\n${answer.body.toString()}` };
  };
  const gather = async (): Promise<MetricsPage> => {
    const self = members.own;
    const others = members.all.filter((each) => each.parent === parent && !members.isSelf(each.id));
    let type = '';
    const askSelf = async (): Promise<MetricsOfReplica> => {
      const page = await own();
      type = page.type;
      return { replica: self.id, text: `${describe(1)}\n${page.text}` };
    };
    // The same order at each worker.
    const all = [self, ...others].sort((a, b) => a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1));
    const pages = await Promise.all(all.map((each) => (each === self ? askSelf() : ask(each))));
    return { type, text: mergeMetrics(pages) };
  };
  // Many who ask at once get one page, so each worker is asked once at a time.
  let gathering: Promise<MetricsPage> | undefined;
  return () => {
    gathering ??= gather().finally(() => {
      gathering = undefined;
    });
    return gathering;
  };
}

function describe(isUp: 0 | 1): string {
  const name = 'isthmus_worker_up';
  const help = 'Whether the worker has answered. The samples of one that has not are missing.';
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${isUp}`;
}

const SERVICE = 'metrics';
const REQUEST: PeerRequest = { service: SERVICE, method: 'GET', target: '/', headers: {}, caller: {} };
const WAIT_MS = 2000;
