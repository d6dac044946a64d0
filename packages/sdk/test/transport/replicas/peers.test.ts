import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../../../../../test/support/fake-clock.js';
import { type Clock, systemClock } from '../../../src/async/clock.js';
import { type ClusterKeys, createClusterKeys } from '../../../src/cluster/cluster-keys.js';
import type { Member } from '../../../src/cluster/member-list.js';
import type { Members } from '../../../src/cluster/members.js';
import {
  digestFrame,
  encodeFrame,
  PEER_HEADER,
  type PeerHeader,
  type PeerRequest,
  ReplayGuard,
  signHeader,
} from '../../../src/transport/peers/envelope.js';
import { PeerClient } from '../../../src/transport/peers/peer-client.js';
import { PeerServer } from '../../../src/transport/peers/peer-server.js';
import { gate } from '../../support/http-server.js';

const SECRET = 'a secret of a test, with enough characters';
const keys = createClusterKeys(SECRET);
const REQUEST: PeerRequest = {
  service: 'echo',
  method: 'POST',
  target: '/x?y',
  headers: { 'x-a': 'b' },
  caller: { principal: 'ada' },
};

describe('the listener for other members', () => {
  it('serves a request of a member once, and only as it was signed', async () => {
    const { address, served } = await startServer();
    const signed = signedRequest({});
    expect(await send(address, signed)).toBe(200);
    expect(served).toEqual(['ada POST /x?y b body']);
    // It is told that it has come already.
    expect(await send(address, signed)).toBe(425);
    expect(served).toHaveLength(1);
  });

  it.each([
    ['for another member', signedRequest({ to: 'other' })],
    ['of a stranger', signedRequest({ keys: createClusterKeys('another secret, long enough for a test') })],
    ['with another body', { ...signedRequest({}), frame: encodeFrame(REQUEST, Buffer.from('bad!')) }],
    ['with another caller', { ...signedRequest({}), frame: frameAs('eve!') }],
    ['that is too old', signedRequest({ time: Date.now() - 31_000 })],
    ['of the future', signedRequest({ time: Date.now() + 300_000 })],
    ['without a signature', { ...signedRequest({}), header: '' }],
    [
      'whose number was changed',
      { ...signedRequest({}), header: signedRequest({}).header.replace(/ 1 /, ' 2 ') },
    ],
  ])('refuses a request %s', async (_, request) => {
    const { address, served } = await startServer();
    expect(await send(address, request)).toBe(403);
    expect(served).toEqual([]);
  });

  const framed = (text: string, length = text.length) => {
    const head = Buffer.alloc(4);
    head.writeUInt32BE(length);
    return Buffer.concat([head, Buffer.from(text)]);
  };
  it.each([
    ['nothing', Buffer.alloc(0)],
    ['half a length', Buffer.alloc(2)],
    ['half an envelope', framed('{"service":"echo",', 4_000_000_000)],
    ['no JSON', framed('{')],
    ['null', framed('null')],
    ['no caller', framed(JSON.stringify({ ...REQUEST, caller: undefined }))],
    ['headers in another form', framed(JSON.stringify({ ...REQUEST, headers: [['x-a', 'b']], caller: 7 }))],
  ])('survives a request of a member of another version: %s', async (_, frame) => {
    const { address, served } = await startServer();
    expect(await send(address, signedRequest({ frame }))).toBe(403);
    expect(await send(address, signedRequest({ sequence: 2 }))).toBe(200);
    expect(served).toHaveLength(1);
  });

  it('survives a service that throws, and tells the sender that the request may have been executed', async () => {
    const { address, served, server } = await startServer();
    let count = 0;
    server.handle('throwing', () => {
      count += 1;
      throw new Error('a fault');
    });
    const { client, member } = await startClient(address);
    expect(await outcome(client, member, { ...REQUEST, service: 'throwing' })).toBe('lost');
    expect(count).toBe(1);
    expect(await outcome(client, member, REQUEST)).toBe('answered');
    expect(served).toHaveLength(1);
  });

  it('refuses strangers before it reads their bodies', async () => {
    const { address } = await startServer();
    const request = httpRequest(address, { method: 'POST', headers: { 'content-length': '1000000' } });
    onTestFinished(() => void request.destroy());
    request.on('error', () => {});
    request.flushHeaders();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(403);
  });
});

describe('the numbers of requests between members', () => {
  const header = (sequence: number, from = 'a'): PeerHeader => {
    return { from, to: 'b', sequence, time: 0, length: 0, digest: '' };
  };

  it('are accepted once each, in any order', () => {
    const guard = new ReplayGuard();
    for (const sequence of [1, 5, 3, 2, 70_000, 69_999, 4465]) {
      expect(guard.accept(header(sequence), 0)).toBe('new');
      expect(guard.accept(header(sequence), 0)).toBe('used');
    }
    // Too far back to tell.
    expect(guard.accept(header(4), 0)).toBe('refused');
    expect(guard.accept(header(4, 'c'), 0)).toBe('new');
    expect(guard.accept(header(0, 'c'), 0)).toBe('refused');
    expect(guard.accept(header(1.5, 'c'), 0)).toBe('refused');
  });
});

describe('a request to another member', () => {
  it('gets the answer in pieces, and stops while they are not read', async () => {
    const { address } = await startServer();
    const { client, member } = await startClient(address);
    const ended = gate<string>();
    let text = '';
    client.send(member, REQUEST, Buffer.from('body'), {
      begin: (status, headers) => {
        text += `${status} ${headers['x-answer']} ${headers[PEER_HEADER]} `;
      },
      data: (chunk) => {
        text += String(chunk);
        return true;
      },
      end: () => ended.open(text),
      failed: ({ kind }) => ended.open(kind),
    });
    expect(await ended.promise).toBe('200 yes undefined served');
  });

  it('fails as refused where no process listens, and as not here where the member does not have it', async () => {
    const { address, close } = await startServer();
    const { client, member } = await startClient(address);
    expect(await outcome(client, member, { ...REQUEST, service: 'nothing' })).toBe('not-here');
    await close();
    expect(await outcome(client, member, REQUEST)).toBe('refused');
  });

  it('is served once, although its connection breaks before it arrives', async () => {
    const { address, served } = await startServer();
    const { client, member } = await startClient(await startBreaker(address, 'before'));
    expect(await outcome(client, member, REQUEST)).toBe('answered');
    expect(served).toHaveLength(1);
  });

  it('is lost and served once, if its connection breaks before the answer', async () => {
    const { address, served } = await startServer();
    const { client, member } = await startClient(await startBreaker(address, 'after'));
    expect(await outcome(client, member, REQUEST)).toBe('lost');
    expect(served).toHaveLength(1);
  });

  it('is not served by a member that has left, and its sender is told so', async () => {
    const server = await startServer();
    const { client, member } = await startClient(server.address);
    // Its connection stays open, and is free in the next turn.
    expect(await outcome(client, member, REQUEST)).toBe('answered');
    await new Promise((resolve) => setImmediate(resolve));
    server.leave();
    const closing = server.close(true);
    expect(await outcome(client, member, REQUEST)).toBe('not-here');
    expect(server.served).toHaveLength(1);
    // It does not wait for its bound when the others have closed their connections.
    await client.close();
    const began = performance.now();
    await closing;
    expect(performance.now() - began).toBeLessThan(900);
    expect(await outcome(client, member, REQUEST)).toBe('refused');
  });

  it('is answered by a member that ends, if the system has accepted its connection before the member has', async () => {
    const server = await startServer();
    const folder = mkdtempSync(join(tmpdir(), 'isthmus-peers-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const isSent = join(folder, 'sent');
    const { header, frame } = signedRequest({});
    const { port } = new URL(server.address);
    const args = [port, header, frame.toString('base64'), isSent];
    const sender = spawn(process.execPath, ['-e', SENDER, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    const answer = once(sender.stdout, 'data');
    // This process sees nothing meanwhile, as on a busy machine.
    for (const until = Date.now() + 20_000; !existsSync(isSent) && Date.now() < until; );
    server.leave();
    const closing = server.close(true);
    expect(String((await answer)[0])).toBe('HTTP/1.1 421 Misdirected Request');
    await closing;
  });

  it('is not answered by a process that has the address and not the secret', async () => {
    const { address } = await startServer(createClusterKeys('another secret, long enough for a test'));
    const { client, member } = await startClient(address);
    // It was refused before it was served.
    expect(await outcome(client, member, REQUEST)).toBe('unreachable');
  });

  it('does not take the answer of a stranger for that of the member', async () => {
    const stranger = await startStranger();
    const { client, member } = await startClient(stranger);
    expect(await outcome(client, member, REQUEST)).toBe('lost');
  });
});

/** A process that sends one request, notes that it has, and says how the answer begins. */
const SENDER = `
const [port, header, frame, isSent] = process.argv.slice(1);
const body = Buffer.from(frame, 'base64');
const head = 'POST / HTTP/1.1\\r\\nhost: x\\r\\nisthmus-peer: ' + header + '\\r\\ncontent-length: ' + body.length;
const socket = require('node:net').connect(Number(port), '127.0.0.1');
socket.on('error', (error) => console.log(error.code));
socket.write(Buffer.concat([Buffer.from(head + '\\r\\n\\r\\n'), body]), () => require('node:fs').writeFileSync(isSent, ''));
socket.once('data', (text) => process.stdout.write(String(text).split('\\r\\n')[0]));
`;

describe('a request to a member that says nothing', () => {
  it('is lost after eight seconds, if the store is away and the member answers no other connection either', async () => {
    const { address, connections } = await startSilent();
    const { client, member, clock, pass } = await startWatched(address, { isConnected: false });
    const began = clock.now();
    const lost = outcome(client, member, REQUEST);
    await pass(lost);
    expect(await lost).toBe('lost');
    // Looks after 2, 4, 6 and 8 s, of 1.5 s each.
    expect(clock.now() - began).toBeGreaterThanOrEqual(9500);
    expect(clock.now() - began).toBeLessThan(11_000);
    // The request, and the questions whether it lives.
    expect(connections()).toBeGreaterThanOrEqual(5);
  });

  it('goes on while the member answers other connections, although the store is away', async () => {
    const clock = new FakeClock();
    const { address, hold } = await startServer(keys, clock);
    const { client, member, pass } = await startWatched(address, { isConnected: false, clock });
    const go = hold('slow');
    const answered = outcome(client, member, { ...REQUEST, service: 'slow' });
    await pass(undefined, 30_000);
    go();
    expect(await answered).toBe('answered');
  });

  it('goes on while the member beats', async () => {
    const { address, connections } = await startSilent();
    const { client, member, pass } = await startWatched(address, { isConnected: true });
    let ended = 'no';
    void outcome(client, member, REQUEST).then((kind) => {
      ended = kind;
    });
    await pass(undefined, 30_000);
    expect([ended, connections()]).toEqual(['no', 1]);
  });

  it('is lost when the member is gone, although that was not certain when it went', async () => {
    const { address } = await startSilent();
    const { client, member, members, pass } = await startWatched(address, { isConnected: true });
    const lost = outcome(client, member, REQUEST);
    members.standing = 'gone';
    await pass(lost);
    expect(await lost).toBe('lost');
  });
});

describe('a request to a member that is gone', () => {
  async function waitingFor(state: Member['state']) {
    const clock = new FakeClock();
    const { address, hold } = await startServer(keys, clock);
    const watched = await startWatched(address, { isConnected: true, clock });
    const go = hold('slow');
    const answered = outcome(watched.client, watched.member, { ...REQUEST, service: 'slow' });
    // It has come.
    await expect.poll(() => hold.asked('slow')).toBe(1);
    watched.members.standing = 'gone';
    watched.members.past = { state };
    watched.client.reviewMembers();
    return { ...watched, go, answered };
  }

  it('is answered by a member that ends in order, also if that takes long', async () => {
    const { pass, go, answered } = await waitingFor('draining');
    await pass(undefined, 4500);
    go();
    expect(await answered).toBe('answered');
  });

  it.each([
    ['draining', 5000],
    ['ready', 500],
  ] as const)('is lost if a member that was %s says nothing for %i ms', async (state, ms) => {
    const { pass, clock, answered } = await waitingFor(state);
    const began = clock.now();
    const took = answered.then(() => clock.now() - began);
    await pass(answered);
    expect([await answered, await took]).toEqual(['lost', ms]);
  });
});

function frameAs(principal: string): Buffer {
  return encodeFrame({ ...REQUEST, caller: { principal } }, Buffer.from('bod'));
}

function signedRequest({
  to = 'self',
  time = Date.now(),
  sequence = 1,
  keys: own = keys,
  frame = encodeFrame(REQUEST, Buffer.from('body')),
}: {
  to?: string;
  time?: number;
  sequence?: number;
  keys?: ClusterKeys;
  frame?: Buffer;
}) {
  const header = { from: 'peer', to, sequence, time, length: frame.length, digest: digestFrame(frame) };
  return { header: signHeader(own, header), frame };
}

async function send(address: string, { header, frame }: { header: string; frame: Buffer }): Promise<number> {
  const response = await fetch(address, {
    method: 'POST',
    headers: { [PEER_HEADER]: header },
    body: new Uint8Array(frame),
  });
  await response.text();
  return response.status;
}

async function startServer(own: ClusterKeys = keys, clock: Clock = systemClock) {
  const served: string[] = [];
  const isSelf = (id: string) => id === 'self';
  const now = () => clock.now();
  const server = new PeerServer({ listen: 'http://127.0.0.1:0', keys: own, isSelf, clock, now });
  const leave = server.handle('echo', (exchange) => {
    exchange.body(1000, (body) => {
      const text = body.kind === 'bytes' ? String(body.bytes) : body.kind;
      served.push(
        `${exchange.caller.principal} ${exchange.method} ${exchange.target} ${exchange.header('x-a')} ${text}`,
      );
      exchange.respond(200, { 'x-answer': 'yes' }, 'served');
    });
  });
  const address = await server.open();
  onTestFinished(() => server.close().catch(() => {}));
  /** Answers requests for a service when the returned function is called. */
  const asked = new Map<string, number>();
  const holding = (service: string) => {
    const go = gate();
    server.handle(service, (exchange) => {
      asked.set(service, (asked.get(service) ?? 0) + 1);
      void go.promise.then(() => exchange.respond(200, {}, 'late'));
    });
    return go.open;
  };
  const hold = Object.assign(holding, { asked: (service: string) => asked.get(service) ?? 0 });
  return { address, served, server, leave, hold, close: (isTold?: boolean) => server.close(isTold) };
}

/** Breaks its first connection when something has come: from the client, or from the server. */
async function startBreaker(address: string, when: 'before' | 'after'): Promise<string> {
  let count = 0;
  const proxy = createTcpServer((near) => {
    count += 1;
    const far = connect(Number(new URL(address).port), '127.0.0.1');
    for (const socket of [near, far]) socket.on('error', () => {});
    const cut = () => {
      near.resetAndDestroy();
      far.destroy();
    };
    if (count > 1) return void near.pipe(far).pipe(near);
    if (when === 'before') return void near.once('data', cut);
    near.pipe(far);
    far.once('data', cut);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());
  return `http://127.0.0.1:${(proxy.address() as { port: number }).port}`;
}

async function startStranger(): Promise<string> {
  const { createServer } = await import('node:http');
  const server = createServer((_request, response) => void response.end('{"served":true}')).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

/** Accepts connections and never answers, as a process that is stopped. */
async function startSilent() {
  let count = 0;
  const sockets: Socket[] = [];
  const server = createTcpServer((socket) => {
    count += 1;
    sockets.push(socket);
    socket.on('error', () => {}).resume();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return { address: `http://127.0.0.1:${port}`, connections: () => count };
}

/** A client whose time a test moves, and what it knows of the other members. */
async function startWatched(
  address: string,
  { isConnected, clock = new FakeClock() }: { isConnected: boolean; clock?: FakeClock },
) {
  const members = {
    self: 'peer',
    all: [],
    get now() {
      return clock.now();
    },
    isConnected,
    standing: 'alive',
    standingOf: () => members.standing,
    past: undefined as Pick<Member, 'state'> | undefined,
    findPast: () => members.past,
  };
  const known = members as unknown as Members;
  const client = await PeerClient.load({ keys, members: () => known, clock });
  onTestFinished(() => client.close());
  /** Lets time pass until something has settled, or for so long. What is on the wire has time to arrive. */
  const pass = async (until: Promise<unknown> | undefined, ms = 20_000) => {
    let isOver = false;
    void until?.then(() => {
      isOver = true;
    });
    for (let passed = 0; passed < ms && !isOver; passed += 500) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      clock.advance(500);
    }
  };
  return { client, member: { id: 'self', address } as Member, members, clock, pass };
}

async function startClient(address: string) {
  const members = {
    self: 'peer',
    all: [],
    get now() {
      return Date.now();
    },
    isConnected: true,
    standingOf: () => 'alive',
  } as unknown as Members;
  const client = await PeerClient.load({ keys, members: () => members, clock: systemClock });
  onTestFinished(() => client.close());
  return { client, member: { id: 'self', address } as Member };
}

function outcome(client: PeerClient, member: Member, request: PeerRequest): Promise<string> {
  const { promise, open } = gate<string>();
  const sink = {
    begin() {},
    data: () => true,
    end: () => open('answered'),
    failed: ({ kind }: { kind: string }) => open(kind),
  };
  client.send(member, request, undefined, sink);
  return promise;
}
