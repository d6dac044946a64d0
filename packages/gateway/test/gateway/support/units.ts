import type { GatewayPart, HostPart } from '@isthmus/sdk/internal/config/index.js';
import { fixture, ISTHMUS } from '../../../../../test/support/child.js';
import { QUICK } from '../../../../sdk/test/host/support-lifetime.js';
import type { GatewayServerDefinition } from '../../../src/server-definition.js';

export interface UnitMore {
  readonly definition?: Partial<HostPart>;
  readonly unit?: Partial<GatewayPart>;
  readonly bridge?: Partial<GatewayServerDefinition['bridge']>;
}

/** A program of Node as one of the servers, started at once and shared, as a file without a word about it has it. */
export function commandUnit(
  name: string,
  args: readonly string[],
  more: UnitMore = {},
): GatewayServerDefinition {
  const definition: HostPart = {
    command: process.execPath,
    args,
    env: {},
    cwd: process.cwd(),
    processes: 'shared',
    start: 'eager',
    shutdown: QUICK,
    ...more.definition,
  };
  return { name, source: { kind: 'command', definition }, ...offer(more) };
}

/** `isthmus demo`. */
export function demoUnit(name: string, more: UnitMore = {}): GatewayServerDefinition {
  return commandUnit(name, [ISTHMUS, 'demo'], more);
}

/** A program of `test/process/`. */
export function fixtureUnit(
  name: string,
  program: string,
  args: readonly string[] = [],
  more: UnitMore = {},
): GatewayServerDefinition {
  return commandUnit(name, [fixture(program), ...args], more);
}

/** A server that listens on `unix:PATH` or `tcp://HOST:PORT`. */
export function socketUnit(name: string, address: string, more: UnitMore = {}): GatewayServerDefinition {
  return { name, source: { kind: 'socket', address, upstream: {} }, ...offer(more) };
}

export function urlUnit(
  name: string,
  url: string,
  { headers = {}, ...more }: UnitMore & { readonly headers?: Record<string, string> } = {},
): GatewayServerDefinition {
  const connect = { headers, sse: 'auto' } as const;
  return { name, source: { kind: 'url', url, connect, upstream: {} }, ...offer(more) };
}

function offer({ unit, bridge }: UnitMore): Pick<GatewayServerDefinition, 'bridge' | 'unit'> {
  return {
    bridge: { stateless: false, ...bridge },
    unit: { disabled: false, needed: true, tools: {}, limits: {}, ...unit },
  };
}
