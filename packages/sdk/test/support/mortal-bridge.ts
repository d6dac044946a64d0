import {
  type Bridge,
  createBridge,
  type MemoryLink,
  memory,
  serve,
  type TaskStore,
} from '../../src/index.js';
import { openPeer, type RawPeer } from './server.js';
import { WITH_TASKS } from './tasks.js';

type Era = 'legacy' | 'modern';

/** A bridge in a process that can be killed: after that nothing that it does arrives anywhere. */
export interface MortalBridge {
  readonly bridge: Bridge;
  readonly peer: RawPeer;
  /** The methods of the requests that reached the server. */
  readonly asked: readonly string[];
  /** kill -9. The store knows that the process has ended. */
  kill(): Promise<void>;
  /** Goes on with what it did before it was killed. */
  wake(): void;
  /** Stops as a process does that is asked to end. */
  stop(): Promise<void>;
}

export interface MortalOptions {
  readonly client: Era;
  readonly upstream: Era;
  readonly store: TaskStore;
  readonly principal?: string;
  /** Default: a place that does not end with the process of the bridge. */
  readonly place?: string | undefined;
  readonly isRemote?: boolean;
}

/** A bridge before the server of a memory link, and a client of it. */
export async function mortalBridge(link: MemoryLink, options: MortalOptions): Promise<MortalBridge> {
  const { client, upstream, principal, place = 'memory:upstream', isRemote = true } = options;
  let isDead = false;
  let onWake = () => {};
  let woken = Promise.resolve();
  const workers = new Set<string>();
  const { store: inner } = options;
  const whenAlive = async () => {
    while (isDead) await woken;
  };
  const store: TaskStore = {
    create: (...args) => whenAlive().then(() => inner.create(...args)),
    get: (id) => whenAlive().then(() => inner.get(id)),
    replace: (...args) => whenAlive().then(() => inner.replace(...args)),
    list: (...args) => whenAlive().then(() => inner.list(...args)),
    watch: (id, onChange) => inner.watch(id, () => void whenAlive().then(onChange)),
    async beat(worker, until) {
      await whenAlive();
      workers.add(worker);
      await inner.beat(worker, until);
    },
    isAlive: (...args) => whenAlive().then(() => inner.isAlive(...args)),
    review: (now) => whenAlive().then(() => inner.review(now)),
    close: async () => {},
  };
  const connections: { close(): void }[] = [];
  const asked: string[] = [];
  const connector = {
    label: 'upstream',
    identity: place,
    isRemote,
    async connect() {
      await whenAlive();
      const connection = link.connect();
      const send = connection.send.bind(connection);
      connection.send = (message, about) => {
        if (isDead) return;
        if ('method' in message) asked.push(message.method);
        send(message, about);
      };
      connections.push(connection);
      return connection;
    },
  };
  const tasks = { store, pollIntervalMs: 5 };
  const bridge = createBridge(connector, { mode: upstream, cache: false, tasks });
  const front = memory(undefined, undefined, { principal });
  const served = await serve(bridge, front);
  const peer = await openPeer(front, client, client === 'modern' ? { capabilities: WITH_TASKS } : {});
  return {
    bridge,
    peer,
    asked,
    async kill() {
      isDead = true;
      woken = new Promise((resolve) => {
        onWake = resolve;
      });
      for (const connection of connections.splice(0)) connection.close();
      for (const worker of workers) await inner.beat(worker, 0);
    },
    wake() {
      isDead = false;
      onWake();
    },
    async stop() {
      await served.close({ graceMs: 0 });
      await bridge.close();
    },
  };
}
