import type { GatewayServerSpec } from '@isthmus/gateway/internal/server-definition.js';
import type { GatewayServerStatus, GatewayStatus } from '@isthmus/gateway/internal/server-state.js';
import type { HostEvent } from '@isthmus/sdk/internal/host/host-event.js';
import { onTestFinished } from 'vitest';
import {
  type Opened,
  type OpenOptions,
  openGateway,
} from '../../../packages/gateway/test/support/open-gateway.js';
import { commandUnit, type UnitMore } from '../../../packages/gateway/test/support/server-definitions.js';
import { type Programmed, type Seen, see } from '../../../packages/sdk/test/support/host-lifetime.js';
import { legacyHttp, modernHttp } from '../../bridge-load/near/http.js';
import { call as callAs, type Json, type Near } from '../../bridge-load/near/near.js';
import { program } from '../../bridge-load/support/far.js';
import type { Message } from '../../support/messages.js';

export interface Watched extends Opened {
  readonly seen: Seen;
}

/** A gateway in this process as `isthmus serve --config` opens it for users of this machine, and all that happens in it. */
export async function openWatched(
  units: readonly GatewayServerSpec[],
  options: OpenOptions = {},
): Promise<Watched> {
  let tell: (event: HostEvent) => void = () => {};
  const seen = see({
    watch: (onEvent: (event: HostEvent) => void) => {
      tell = onEvent;
      return () => {};
    },
  } as Parameters<typeof see>[0]);
  const opened = await openGateway(units, {
    tellsStderr: true,
    onHostEvent: (event) => tell(event),
    ...options,
  });
  return { ...opened, seen };
}

/** A legacy server that is there in no time: echo, pid, elicit. */
export function linesUnit(name: string, more: UnitMore = {}): GatewayServerSpec {
  return commandUnit(name, [program('legacy-lines.mjs')], more);
}

/** A server that is told before each start what to be. */
export function programmedUnit(name: string, server: Programmed, more: UnitMore = {}): GatewayServerSpec {
  const { args = [] } = server.definition();
  return commandUnit(name, args, { ...more, restart: QUICK_RESTART, ...more });
}

/** A pause that can be seen, and that nobody has to wait for. */
export const QUICK_RESTART = { firstDelayMs: 250, maxDelayMs: 250, jitter: 0 };

/** Raw clients of both eras, by name; they leave when the test ends. */
export async function bothEras(url: string): Promise<readonly [legacy: Near, modern: Near]> {
  const legacy = await legacyHttp(url, 'legacy');
  const modern = modernHttp(url, 'modern');
  onTestFinished(async () => {
    await modern.leave();
    await legacy.leave().catch(() => {});
  });
  return [legacy, modern];
}

let lastId = 0;
/** A call with an id of its own. */
export function call(near: Near, name: string, args: Json = {}): Promise<Message> {
  lastId += 1;
  return callAs(near, lastId, name, args);
}

/** What a call said, or its error. */
export function said({ result, error }: Message): unknown {
  return error ?? result.content[0].text;
}

export async function unitStatus(
  { status }: Pick<Opened, 'status'>,
  name: string,
): Promise<GatewayServerStatus> {
  return (await status()).servers[name]!;
}

/** The processes of a server that are there, by what the gateway says. */
export function pidsOf(status: GatewayStatus, name: string): number[] {
  return status.servers[name]!.processes!.processes.flatMap(({ pid }) => pid ?? []);
}
