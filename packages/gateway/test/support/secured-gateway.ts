import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { until } from '../../../../test/support/until.js';
import { childrenOf } from '../../../sdk/test/support/host-lifetime.js';
import { type Answer, type Ask, ask } from '../../../sdk/test/support/http-server.js';
import { createAuthenticate } from '../../src/auth/create-authenticate.js';
import type { ApiKey } from '../../src/auth/key-ring.js';
import { type RunGatewayOptions, type RunningGateway, runGateway } from '../../src/run-gateway.js';
import type { GatewayServerSpec } from '../../src/server-definition.js';
import { createLog } from '../../src/telemetry/log.js';
import { createRedactor } from '../../src/telemetry/redactor.js';
import { freshFolder } from './open-gateway.js';
import { commandUnit, type UnitMore } from './server-definitions.js';

/** A gateway as `serve` runs it, with its log, its control socket and its doors, in this process. */
export interface House {
  readonly operation: RunningGateway;
  readonly origin: string;
  readonly port: number;
  readonly controlPath: string;
  /** All that was logged, from `debug` on. */
  logged(): string;
  at(path: string): string;
  /** One request, on a connection of its own. */
  ask(path: string, request?: Ask): Promise<Answer>;
}

export type HouseOptions = Partial<Omit<RunGatewayOptions, 'units' | 'log' | 'redactor'>> & {
  readonly keys?: readonly ApiKey[];
  /** How it is logged. Default `json`. */
  readonly format?: 'json' | 'pretty';
};

/** Closed when the test ends, and no process may be left. */
export async function openHouse(
  units: readonly GatewayServerSpec[],
  { keys, endpoint, format = 'json', ...options }: HouseOptions = {},
): Promise<House> {
  const before = new Set(childrenOf(process.pid));
  const redactor = createRedactor(keys?.map(({ key }) => key));
  let logged = '';
  const destination = {
    write(line: string) {
      logged += line;
    },
  };
  const log = createLog({ level: 'debug', format, redactor, env: { FORCE_COLOR: '1' }, destination });
  const controlPath = join(freshFolder(), 'control.sock');
  const operation = await runGateway({
    ...{ units, redactor, log, controlPath, addresses: ['http://127.0.0.1:0/mcp'] },
    host: { ledger: false, cache: false, random: () => 0.5 },
    endpoint: { ...endpoint, ...(keys && createAuthenticate({ apiKeys: keys })) },
    graceMs: 500,
    ...options,
  });
  onTestFinished(async () => {
    await operation.close({ graceMs: 0 });
    const left = () => childrenOf(process.pid).filter((pid) => !before.has(pid));
    await until('no process is left behind', () => left().length === 0, 5000);
  });
  const { origin, port } = new URL(operation.gateway.addresses[0]!);
  return {
    ...{ operation, origin, port: Number(port), controlPath },
    logged: () => logged,
    at: (path) => `${origin}${path}`,
    ask: (path, request) => ask(`${origin}${path}`, request),
  };
}

/** A server that tells what it knows of itself. */
export function tellsAll(name: string, more: UnitMore & { readonly era?: string } = {}): GatewayServerSpec {
  return commandUnit(name, [PROGRAM, more.era ?? 'dual'], more);
}

const PROGRAM = fileURLToPath(new URL('../security/programs/tells-all.mjs', import.meta.url));

/** As a gateway keeps servers whose callers are told apart. */
export const EACH_ITS_OWN: UnitMore = { processes: 'per-principal' };

export const KEYS: readonly ApiKey[] = [
  { name: 'alice', key: 'alice-9d81c04be7' },
  { name: 'bob', key: 'bob-52f0aa613c' },
];
export const ALICE = { 'x-api-key': 'alice-9d81c04be7' };
export const BOB = { 'x-api-key': 'bob-52f0aa613c' };

/** The text of an answer to a tool call. */
export function textOf({ json }: Answer): string {
  return json.result
    ? String(json.result.content[0].text)
    : `error ${json.error?.code}: ${json.error?.message}`;
}
