import { expect, onTestFinished } from 'vitest';
import { FakeClock } from '../../../../../test/support/fake-clock.js';
import { type BridgeOptions, createBridge } from '../../../src/bridge/index.js';
import type { UpstreamOptions } from '../../../src/client/connect.js';
import { type Bridge, type ServeOptions, serve } from '../../../src/index.js';
import { type HttpConnectOptions, http } from '../../../src/transport/http.js';
import type { FarOptions } from './far.js';
import { type Exchange, FarHttp } from './far-http.js';
import { type Era, settle } from './frames.js';
import { farProblems } from './judge-far.js';
import { nearProblems } from './judge-near.js';
import { NearLink } from './near.js';

export interface ToHttpOptions extends Omit<FarOptions, 'era'> {
  readonly bridge?: BridgeOptions & UpstreamOptions;
  readonly serving?: ServeOptions;
  readonly connecting?: HttpConnectOptions;
  /** Before the first request. */
  readonly prepare?: (far: FarHttp) => void;
}

export interface BetweenHttp {
  readonly bridge: Bridge;
  readonly near: NearLink;
  readonly far: FarHttp;
  readonly clock: FakeClock;
}

/** A bridge before a scripted server at a URL; its clients come over byte streams. Judged like the others. */
export async function bridgeToHttp(era: Era, options: ToHttpOptions = {}): Promise<BetweenHttp> {
  const { bridge: bridgeOptions, serving, connecting, prepare, ...farOptions } = options;
  const far = new FarHttp({ era, ...farOptions });
  await far.listen();
  prepare?.(far);
  const clock = new FakeClock();
  const bridge = createBridge(http(far.url, connecting), { clock, cache: false, ...bridgeOptions });
  const near = new NearLink();
  const served = await serve(bridge, near, { clock, ...serving });
  onTestFinished(async () => {
    await Promise.all([served.close({ graceMs: 0 }), settle().then(() => clock.advance(0))]);
    await bridge.close();
    const found = near.clients.flatMap(({ frames, revision }) =>
      revision ? nearProblems(frames, revision) : [],
    );
    for (const [scope, frames] of far.frames) {
      if (scope !== '') found.push(...farProblems(frames, versionOf(far.options)));
    }
    expect([...found, ...far.seen.flatMap(headerProblems)]).toEqual([]);
  });
  return { bridge, near, far, clock };
}

function versionOf({ era, revision = '2025-11-25' }: FarOptions) {
  return era === 'modern' ? '2026-07-28' : revision;
}

/** HTTP-026 … HTTP-030: what a modern request says in its headers is what it says in its body. */
function headerProblems({ verb, headers, message }: Exchange): string[] {
  const version = message.params?._meta?.['io.modelcontextprotocol/protocolVersion'];
  if (verb !== 'POST' || version === undefined) return [];
  const name = message.method === 'resources/read' ? message.params.uri : message.params.name;
  const wanted: [string, unknown][] = [
    ['mcp-protocol-version', version],
    ['mcp-method', message.method],
    ['mcp-name', name],
    ['mcp-session-id', undefined],
  ];
  return wanted
    .filter(([header, value]) => headers[header] !== value)
    .map(([header]) => `${header} is ${headers[header]} in ${JSON.stringify(message)}`);
}
