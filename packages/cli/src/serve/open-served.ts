import type { GatewayOptions } from '@isthmus/gateway/internal/gateway.js';
import { systemClock, within } from '@isthmus/sdk/internal/async/clock.js';
import { planDeparture } from '@isthmus/sdk/internal/async/departure.js';
import { type Owned, ownProcess } from '@isthmus/sdk/internal/server/own-process.js';
import type { TaskStore } from '@isthmus/sdk/internal/server/tasks/store.js';
import type { JoinedCluster } from '../cluster/cluster-options.js';
import { checkWorkerAddresses } from '../workers/worker-options.js';
import type { HttpAccess } from './access/http-access.js';
import { cannotListen } from './addresses.js';
import { tellDescriptors } from './operator.js';

/** What every gateway of the command line has, whatever it serves. */
export interface ServedInputs {
  readonly addresses: readonly string[];
  readonly access: HttpAccess;
  readonly graceMs?: number | undefined;
  /** Set if this process serves together with others. It leaves the cluster when it ends. */
  readonly joined?: JoinedCluster | undefined;
  /** Where tasks are kept. It is closed after the gateway. Undefined: in memory. */
  readonly taskStore?: TaskStore | undefined;
  /** Writes a warning for the person who runs the gateway. */
  readonly warn: (line: string) => void;
}

type AccessOptions = Pick<
  GatewayOptions,
  | 'addresses'
  | 'endpoint'
  | 'sse'
  | 'healthPaths'
  | 'operators'
  | 'connect'
  | 'tellsStderr'
  | 'graceMs'
  | 'cluster'
  | 'taskStore'
  | 'connections'
>;

/**
 * Opens a gateway at the addresses of the command line, and ties the process to it. `open` gets the options that do not
 * depend on what is served: the demo, one server, or the servers of files. `onHangup` is for SIGHUP.
 */
export async function openServed<T extends Owned>(
  { addresses, access, graceMs, joined, taskStore, warn }: ServedInputs,
  open: (options: AccessOptions) => Promise<T>,
  onHangup?: (opened: T) => void,
): Promise<T> {
  const { endpoint, places, isPrivate: tellsStderr } = access;
  const { cluster } = joined ?? {};
  const openChecked = async () => {
    if (joined?.worker) checkWorkerAddresses(addresses);
    return open({
      ...{ addresses, endpoint, ...places, tellsStderr, graceMs, cluster, taskStore },
      connections: joined?.worker?.connections,
    });
  };
  const opened = await openChecked().catch(async (error: unknown) => {
    await taskStore?.close();
    await cluster?.leave();
    throw cannotListen(addresses, error);
  });
  void opened.closed.then(() => taskStore?.close());
  tellDescriptors(warn);
  const { worker } = joined ?? {};
  const departure = planDeparture({
    isStdio: addresses.includes('stdio'),
    graceMs,
    drainMs: joined?.drainMs,
  });
  const owned = joined ? drainedFirst(opened, joined) : opened;
  ownProcess(owned, departure, onHangup && (() => onHangup(opened)), worker?.signals);
  worker?.owned(departure.exitMs);
  return opened;
}

/**
 * When the process is told to end, the other members and the balancers hear of it first. Meanwhile it goes on serving.
 * Where no other member is ready, there is nothing to wait for.
 */
function drainedFirst(opened: Owned, { cluster, drainMs }: JoinedCluster): Owned {
  return {
    closed: opened.closed.then(() => cluster.leave()),
    async close(how) {
      const { members } = cluster;
      await within(systemClock, SAY_MS, cluster.drain());
      const isAlone = members.all.every(({ id, state }) => members.isSelf(id) || state !== 'ready');
      if (!isAlone) await within(systemClock, drainMs, opened.closed);
      await opened.close(how);
    },
  };
}

/** How long the store may take to hear that this process ends. */
const SAY_MS = 500;

/** Serves our own demo server. It runs in this process. Returns the real addresses. */
export async function serveDemo(
  inputs: ServedInputs,
  stateKeys: readonly string[] | undefined,
): Promise<readonly string[]> {
  const { createGateway } = await import('@isthmus/gateway/internal/create-gateway.js');
  const { createDemoServer } = await import('../demo/demo-server.js');
  const metrics = await metricsOf(inputs.joined);
  const gateway = await openServed(inputs, (options) =>
    createGateway({
      ...options,
      units: [],
      own: { name: 'demo', service: createDemoServer(inputs.taskStore) },
      host: { ledger: false },
      stateKeys,
      metrics: async () => ({ type: 'text/plain; version=0.0.4', text: await metrics() }),
    }),
  );
  return gateway.addresses;
}

/** The demo alone counts nothing. */
async function metricsOf(joined: JoinedCluster | undefined): Promise<() => Promise<string>> {
  if (!joined) return async () => '';
  const { createClusterMetrics } = await import('@isthmus/gateway/internal/telemetry/cluster-metrics.js');
  return createClusterMetrics(joined.cluster).render;
}
