/** What the store and the network must not be able to do. Each attack succeeds against members with one check missing. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type ClusterKeys, createClusterKeys } from '../../packages/sdk/src/cluster/cluster-keys.js';
import { sessionKey } from '../../packages/sdk/src/cluster/session-id.js';
import { createServer, type Server } from '../../packages/sdk/src/index.js';
import { type ClusterStore, memoryStore } from '../../packages/sdk/src/transport/cluster.js';
import type * as Envelope from '../../packages/sdk/src/transport/peers/envelope.js';
import { ReplayGuard } from '../../packages/sdk/src/transport/peers/envelope.js';
import {
  openWandering,
  SECRET,
  startMembers,
  type TestMember,
  type WanderingSession,
} from '../../packages/sdk/test/support/cluster.js';
import {
  ask,
  gate,
  legacy,
  legacyCall,
  legacyRequest,
  until,
} from '../../packages/sdk/test/support/http-server.js';
import { freePort } from '../support/redis.js';

/** The checks that are missing. */
const missing = vi.hoisted(() => new Set<string>());
vi.mock('../../packages/sdk/src/cluster/cluster-keys.js', async (original) => {
  const real = await original<{ createClusterKeys: typeof createClusterKeys }>();
  return { ...real, createClusterKeys: (secrets: string) => weaken(real.createClusterKeys(secrets)) };
});
vi.mock('../../packages/sdk/src/transport/peers/envelope.js', async (original) => {
  const real = await original<typeof Envelope>();
  return {
    ...real,
    digestFrame: (frame: Buffer) => (missing.has('digest') ? 'any' : real.digestFrame(frame)),
  };
});

function weaken(keys: ClusterKeys): ClusterKeys {
  return {
    ...keys,
    verify: (purpose, ...rest) => (missing.has(`mac of ${purpose}`) ? true : keys.verify(purpose, ...rest)),
    sealer(purpose, context) {
      const sealer = keys.sealer(purpose, missing.has(`context of ${purpose}`) ? '' : context);
      const open = (sealed: Uint8Array) =>
        sealer.open(sealed) ?? (missing.has(`seal of ${purpose}`) ? Buffer.from(sealed) : undefined);
      return { ...sealer, open };
    },
  };
}

interface Stage {
  readonly members: readonly [TestMember, TestMember];
  readonly store: ClusterStore;
  /** Sessions that the first member owns. */
  readonly ada: WanderingSession;
  readonly eve: WanderingSession;
  /** How often a tool has run. */
  readonly runs: string[];
  readonly change: (uri: string) => void;
  /** What goes from the second member to the first. */
  readonly wire: Wire;
}

interface Attack {
  readonly title: string;
  /** The check without which it succeeds. */
  readonly check: string;
  readonly refused: string;
  readonly letIn: string;
  /** Whether the attacker is on the network between the members. */
  readonly isOnWire?: boolean;
  attack(stage: Stage): Promise<string>;
}

const ATTACKS: readonly Attack[] = [
  {
    title: 'a session id that names another member',
    check: 'mac of session-id',
    refused: '404, 0 handed on',
    letIn: '404, 1 handed on',
    async attack({ members: [first, second], ada }) {
      const forged = `${second.id}${ada.id.slice(8)}`;
      const { status } = await post(first, ada, { 'mcp-session-id': forged });
      return `${status}, ${first.cluster.counts.handedOn} handed on`;
    },
  },
  {
    title: 'a session id with the proof of another one',
    check: 'mac of session-id',
    refused: '404, 0 handed on',
    letIn: '404, 1 handed on',
    async attack({ members: [, second], ada, eve }) {
      const before = second.cluster.counts.handedOn;
      const moved = [...ada.id.split('.').slice(0, 2), eve.id.split('.')[2]].join('.');
      const { status } = await post(second, ada, { 'mcp-session-id': moved });
      return `${status}, ${second.cluster.counts.handedOn - before} handed on`;
    },
  },
  {
    title: 'the session of somebody else, whose member is dead',
    check: 'mac of session-id',
    refused: '404',
    letIn: '200',
    async attack({ members: [first, second], ada }) {
      await first.kill();
      return String((await post(second, ada, { 'x-user': 'eve' })).status);
    },
  },
  {
    title: 'the record of another session in the store',
    check: 'context of record',
    refused: '404',
    letIn: '200',
    async attack({ members: [first, second], store, ada, eve }) {
      const owner = first.id;
      await first.kill();
      const found = await store.claim(sessionKey(ada.id), { by: 'attacker', from: owner, ttlMs: 60_000 });
      if (found.kind !== 'mine') throw new Error(found.kind);
      await store.put(sessionKey(eve.id), { by: owner, epoch: 9, value: found.value, ttlMs: 60_000 });
      return String((await post(second, eve)).status);
    },
  },
  {
    title: 'the events of another session in the store, with its Last-Event-ID',
    check: 'context of events',
    refused: 'reads nothing',
    letIn: 'reads a secret of ada',
    async attack({ members: [first], store, ada, eve }) {
      const call = await ada.open(legacyCall('slow', 'slow', {}, { progressToken: 'p' }), 0);
      await call.next();
      const { id } = call.events.filter(({ data }) => data)[0]!;
      await call.next();
      const logOf = (session: WanderingSession) => store.read(sessionKey(session.id));
      await until('the log has both events', async () => (await logOf(ada)).length > 2);
      await store.append(sessionKey(eve.id), await logOf(ada), 60_000);
      await first.kill();
      const rest = await eve.get({ 'last-event-id': id! }, 1);
      await Promise.race([rest.end(), until('the secret', () => rest.text.includes('secret of ada'))]);
      return rest.text.includes('secret of ada') ? 'reads a secret of ada' : 'reads nothing';
    },
  },
  {
    title: 'news that no member has written',
    check: 'seal of news',
    refused: 'note://b',
    letIn: 'note://a, note://b',
    async attack({ members: [, second], store, ada, change }) {
      const channels: [string, Uint8Array][] = [];
      const publish = store.publish.bind(store);
      store.publish = (...args) => {
        channels.push(args);
        return publish(...args);
      };
      for (const uri of ['note://a', 'note://b']) {
        await ada.post(legacyRequest(uri, 'resources/subscribe', { uri }), 0);
      }
      const stream = await ada.get({}, 0);
      change('note://b');
      await stream.next();
      const [channel, sealed] = channels.at(-1)!;
      const plain = createClusterKeys(SECRET).sealer('news', channel).open(sealed)!.toString();
      await publish(
        channel,
        Buffer.from(plain.replace('note://b', 'note://a').replace(second.id, 'aaaaaaaa')),
      );
      change('note://b');
      const heard = [await stream.next()];
      if (heard[0]!.params!['uri'] === 'note://a') heard.push(await stream.next());
      return heard.map(({ params }) => params!['uri']).join(', ');
    },
  },
  {
    title: 'a member that a stranger has written to the store',
    check: 'seal of member',
    refused: '2 members',
    letIn: '3 members',
    async attack({ members: [first], store }) {
      const facts = { ...first.cluster.members.own, address: 'http://127.0.0.1:1' };
      await store.beat({ member: 'attacker', facts: Buffer.from(JSON.stringify(facts)), ttlMs: 60_000 });
      await first.cluster.members.refresh();
      return `${first.cluster.members.all.length} members`;
    },
  },
  {
    title: 'a request between members that is sent once more',
    check: 'numbers',
    refused: 'ran: hello',
    letIn: 'ran: hello, hello',
    isOnWire: true,
    async attack({ ada, runs, wire }) {
      wire.sent.length = 0;
      await ada.post(legacyCall(1, 'echo', { text: 'hello' }), 1);
      await wire.send(Buffer.concat(wire.sent));
      return `ran: ${runs.join(', ')}`;
    },
  },
  {
    title: 'a request between members whose body was altered on its way',
    check: 'digest',
    // It was certainly not served, so the member sends it once more.
    refused: 'ran: hello',
    letIn: 'ran: hullo',
    isOnWire: true,
    async attack({ ada, runs, wire }) {
      let count = 0;
      wire.alter = (chunk) => {
        const altered = chunk.toString('latin1').replace('hello', () => (count++ === 0 ? 'hullo' : 'hello'));
        return Buffer.from(altered, 'latin1');
      };
      await ada.post(legacyCall(1, 'echo', { text: 'hello' }), 1);
      return `ran: ${runs.join(', ')}`;
    },
  },
];

describe.each(ATTACKS)('$title', ({ check, refused, letIn, isOnWire = false, attack }) => {
  it('is refused', async () => {
    expect(await attack(await openStage(isOnWire))).toBe(refused);
  });

  it(`would succeed without a check (${check})`, async () => {
    onTestFinished(() => missing.clear());
    missing.add(check);
    if (check === 'numbers') {
      const accept = vi.spyOn(ReplayGuard.prototype, 'accept').mockReturnValue('new');
      onTestFinished(() => accept.mockRestore());
    }
    expect(await attack(await openStage(isOnWire))).toBe(letIn);
  });
});

async function openStage(isOnWire: boolean): Promise<Stage> {
  const runs: string[] = [];
  const servers: Server[] = [];
  const store = memoryStore();
  const port = await freePort();
  const wire = await openWire(port);
  const create = () => {
    const server = createServer({ name: 'attacked', version: '1' });
    server.tool('echo', {}, (args) => {
      runs.push(String((args as { text?: unknown }).text));
      return 'done';
    });
    const never = gate();
    server.tool('slow', {}, async (_args, ctx) => {
      ctx.progress(1);
      ctx.progress(2, undefined, 'a secret of ada');
      await never.promise;
      return 'never';
    });
    for (const name of ['a', 'b']) server.resource(`note://${name}`, { name }, () => name);
    servers.push(server);
    return server;
  };
  const authenticate = (request: { header(name: string): string | undefined }) => request.header('x-user');
  const own = isOnWire ? { listen: `http://127.0.0.1:${port}`, advertise: wire.address } : {};
  const [first] = await startMembers(1, create, { join: { store, ...own }, http: { authenticate } });
  const [second] = await startMembers(1, create, { join: { store }, http: { authenticate } });
  await until('both know each other', () =>
    [first!, second!].every(({ cluster }) => cluster.members.all.length === 2),
  );
  const urls = [first!.url, second!.url];
  const sessionOf = (user: string) => openWandering(urls, { headers: { 'x-user': user } });
  const [ada, eve] = [await sessionOf('ada'), await sessionOf('eve')];
  const change = (uri: string) => servers[1]!.resourceUpdated(uri);
  return { members: [first!, second!], store, ada, eve, runs, change, wire };
}

function post(member: TestMember, session: WanderingSession, headers: Record<string, string> = {}) {
  return ask(
    member.url,
    legacy({ jsonrpc: '2.0', id: 9, method: 'ping' }, { ...session.headers, ...headers }),
  );
}

interface Wire {
  readonly address: string;
  /** What has passed. */
  readonly sent: Buffer[];
  alter: (chunk: Buffer) => Buffer;
  /** Sends bytes to the member, and waits for its answer. */
  send(bytes: Buffer): Promise<void>;
}

/** A network between members that somebody else controls. */
async function openWire(port: number): Promise<Wire> {
  const sent: Buffer[] = [];
  const proxy = createTcpServer((from) => {
    const to = connect(port, '127.0.0.1');
    from.on('error', () => to.destroy()).on('close', () => to.destroy());
    to.on('error', () => from.destroy()).on('close', () => from.destroy());
    to.pipe(from);
    from.on('data', (chunk) => {
      sent.push(chunk);
      to.write(wire.alter(chunk));
    });
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void proxy.close());
  await once(proxy, 'listening');
  const wire: Wire = {
    address: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    sent,
    alter: (chunk) => chunk,
    async send(bytes) {
      const socket = connect(port, '127.0.0.1');
      socket.write(bytes);
      await once(socket, 'data');
      socket.destroy();
    },
  };
  return wire;
}
