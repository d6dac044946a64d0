/** Clients that ask for much and do not read it: others do not notice, and the bridge does not swell. */
import { expect, it } from 'vitest';
import { until } from '../../packages/sdk/test/support/host-lifetime.js';
import { legacy, legacyCall, modernCall, openSession } from '../../packages/sdk/test/support/http-server.js';
import { initialize, legacyCall as legacyOnLine, line, call as onLine } from '../support/messages.js';
import { modernHttp } from './near/http.js';
import { call, type Era, outcome } from './near/near.js';
import { onSocket } from './near/socket.js';
import { deaf, post } from './support/deaf-client.js';
import { freshSocket, type ServeCommand, serveCommand } from './support/serve-command.js';

const onLinux = it.skipIf(process.platform !== 'linux');

onLinux.each<Era>(['legacy', 'modern'])(
  'a %s client on a socket that reads nothing of 500 MB costs less than 250 MB',
  async (era) => {
    const bridge = await start();
    const silent = await deaf(bridge.addresses[1]!);
    const make = era === 'legacy' ? legacyOnLine : onLine;
    if (era === 'legacy') silent.write(line(initialize('init')));
    for (let id = 0; id < 2000; id += 1) silent.write(line(make(id, 'big', { bytes: 262_144 })));
    expect(await growth(bridge, () => othersGoOn(bridge))).toBeLessThan(250);
  },
);

onLinux('clients over HTTP that do not read 260 MB of progress cost less than 80 MB', async () => {
  const bridge = await start();
  const [url] = bridge.addresses as [string, string];
  const session = await openSession(url);
  const flood = { times: 2000 };
  const grown = await growth(bridge, async () => {
    post(await deaf(url), modernCall(0, 'flood', flood, { meta: { progressToken: 0 } }));
    post(await deaf(url), legacy(legacyCall(0, 'flood', flood, { progressToken: 0 }), session.headers));
    await othersGoOn(bridge);
    await until('all was said', () => bridge.diary.lines().length === 2, 20_000);
  });
  expect(grown).toBeLessThan(80);
});

/** A bridge that has been used already. */
async function start(): Promise<ServeCommand> {
  const listen = ['http://127.0.0.1:0/mcp', freshSocket()];
  const bridge = await serveCommand('legacy', listen, { program: 'legacy-lines.mjs' });
  await othersGoOn(bridge);
  return bridge;
}

/** 100 small calls by two others, one after the other. */
async function othersGoOn({ addresses: [url, socket] }: ServeCommand): Promise<void> {
  const others = [modernHttp(url!, 'a'), await onSocket(socket!, 'b', 'legacy')];
  for (let id = 0; id < 50; id += 1) {
    for (const near of others) {
      expect(outcome(await call(near, id, 'echo', { text: near.name }))).toEqual([id, near.name]);
    }
  }
}

/** By how many MB something makes the bridge larger than it has ever been. */
async function growth({ child }: ServeCommand, work: () => Promise<void>): Promise<number> {
  const before = child.peakMemory();
  await work();
  return child.peakMemory() - before;
}
