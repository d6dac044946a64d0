import type { CommandSpec, ServerSettings, ServerSpec } from '@isthmus/sdk/internal/config/server-spec.js';
import { fixture, ISTHMUS } from '../../../../test/support/child.js';
import { QUICK } from '../../../sdk/test/support/host-lifetime.js';

export type UnitMore = Partial<CommandSpec>;

/** A program of Node as one of the servers, started at once and shared, as a file without a word about it has it. */
export function commandUnit(name: string, args: readonly string[], more: UnitMore = {}): CommandSpec {
  return {
    kind: 'command',
    name,
    command: process.execPath,
    args,
    env: {},
    cwd: process.cwd(),
    processes: 'shared',
    start: 'eager',
    shutdown: QUICK,
    ...more,
  };
}

/** `isthmus demo`. */
export function demoUnit(name: string, more: UnitMore = {}): CommandSpec {
  return commandUnit(name, [ISTHMUS, 'demo'], more);
}

/** A program of `test/process/`. */
export function fixtureUnit(
  name: string,
  program: string,
  args: readonly string[] = [],
  more: UnitMore = {},
): CommandSpec {
  return commandUnit(name, [fixture(program), ...args], more);
}

/** A server that listens on `unix:PATH` or `tcp://HOST:PORT`. */
export function socketUnit(name: string, address: string, more: ServerSettings = {}): ServerSpec {
  return { kind: 'socket', name, address, ...more };
}

export function urlUnit(
  name: string,
  url: string,
  { headers = {}, ...more }: ServerSettings & { readonly headers?: Record<string, string> } = {},
): ServerSpec {
  return { kind: 'url', name, url, transport: 'auto', headers, ...more };
}
