import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { type BridgeOptions, createBridge } from '../../../src/bridge/index.js';
import { type Bridge, createHost, type Host, type ServerDefinition, serve } from '../../../src/index.js';
import { type FarOptions, FarServer } from './far.js';
import type { Era } from './frames.js';
import { farProblems } from './judge-far.js';
import { nearProblems } from './judge-near.js';
import { NearLink } from './near.js';

export interface ToHostOptions extends Omit<FarOptions, 'era'> {
  readonly definition?: Partial<ServerDefinition>;
  readonly bridge?: BridgeOptions;
}

export interface BetweenHost {
  readonly bridge: Bridge;
  readonly host: Host;
  readonly near: NearLink;
  /** Each of its connections is a process. */
  readonly far: FarServer;
}

const RELAY = fileURLToPath(new URL('../../bridge/programs/relay.mjs', import.meta.url));

/** A bridge before a server whose process a host keeps: one for everybody, unless told otherwise. */
export async function bridgeToHost(era: Era, options: ToHostOptions = {}): Promise<BetweenHost> {
  const { definition, bridge: bridgeOptions, ...farOptions } = options;
  const far = new FarServer({ era, ...farOptions });
  far.lists = true;
  const relays = createServer((socket) => far.accept(socket, socket));
  await new Promise<void>((resolve) => relays.listen(0, '127.0.0.1', resolve));
  const args = [RELAY, String((relays.address() as AddressInfo).port)];
  const command: ServerDefinition = { command: process.execPath, args, ...definition };
  const host = createHost({ servers: { far: command }, cache: false, ledger: false });
  const bridge = createBridge(host.upstream('far'), bridgeOptions);
  const near = new NearLink();
  const served = await serve(bridge, near);
  onTestFinished(async () => {
    await served.close({ graceMs: 0 });
    await bridge.close();
    await host.close();
    relays.close();
    expect([
      ...near.clients.flatMap(({ frames, revision }) => (revision ? nearProblems(frames, revision) : [])),
      ...far.connections.flatMap(({ frames, revision }) => farProblems(frames, revision)),
    ]).toEqual([]);
  });
  return { bridge, host, near, far };
}
