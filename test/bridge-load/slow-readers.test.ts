/** Clients that ask for much and do not read it: others do not notice, and the bridge does not swell. */
import { expect, it } from 'vitest';
import { until } from '../host/support-lifetime.js';
import { legacy, legacyCall, modernCall, openSession } from '../http-server/support.js';
import { initialize, legacyCall as legacyOnLine, line, call as onLine } from '../support/messages.js';
import { modernHttp } from './near/http.js';
import { call, type Era, outcome } from './near/near.js';
import { onSocket } from './near/socket.js';
import { deaf, post } from './support/deaf-client.js';
import { freshSocket, type ServeCommand, serveCommand } from './support/serve-command.js';

const HTTP = 'http://127.0.0.1:0/mcp';
const onLinux = it.skipIf(process.platform !== 'linux');

onLinux.each<[Era, Era]>([
  ['legacy', 'modern'],
  ['modern', 'legacy'],
])(
  'a %s client on a socket that reads nothing of 500 MB of a %s server costs less than 300 MB',
  async (near, far) => {
    const bridge = await serveCommand(far, [HTTP, freshSocket()]);
    const silent = await deaf(bridge.addresses[1]!);
    const make = near === 'legacy' ? legacyOnLine : onLine;
    if (near === 'legacy') silent.write(line(initialize('init')));
    for (let id = 0; id < 2000; id += 1) silent.write(line(make(id, 'big', { bytes: 262_144 })));
    await othersGoOn(bridge);
    expect(bridge.child.peakMemory()).toBeLessThan(300);
  },
);

onLinux.each<Era>(['legacy', 'modern'])(
  'clients over HTTP that do not read 400 MB of progress of a %s server cost less than 200 MB',
  async (era) => {
    const bridge = await serveCommand(era, [HTTP, freshSocket()]);
    const [url] = bridge.addresses as [string, string];
    const session = await openSession(url);
    const flood = { times: 3000 };
    post(await deaf(url), modernCall(0, 'flood', flood, { meta: { progressToken: 0 } }));
    post(await deaf(url), legacy(legacyCall(0, 'flood', flood, { progressToken: 0 }), session.headers));
    await othersGoOn(bridge);
    await until('all was said', () => bridge.diary.lines().length === 2, 20_000);
    expect(bridge.child.peakMemory()).toBeLessThan(200);
  },
);

/** 100 small calls by two others, one after the other. */
async function othersGoOn({ addresses: [url, socket] }: ServeCommand): Promise<void> {
  const others = [modernHttp(url!, 'a'), await onSocket(socket!, 'b', 'legacy')];
  for (let id = 0; id < 50; id += 1) {
    for (const near of others) {
      expect(outcome(await call(near, id, 'echo', { text: near.name }))).toEqual([id, near.name]);
    }
  }
}
