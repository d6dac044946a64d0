import { nearMiss } from '../../near-miss.js';
import { type Document, isTable, kindOf, type Path } from '../documents/document.js';
import { expand, type Resolve, reportFailure } from '../expand.js';
import { flawOf, MS_OR_NONE, notKnown, type ValueKind } from '../options/option-kinds.js';
import { LIMITS } from '../options/option-table.js';
import type { ConfigReport } from '../report.js';
import type { LimitSettings } from '../server-spec.js';
import { ACCESS, type AccessSettings } from './read-access.js';
import { CLUSTER, type ClusterSettings, resolveClusterFiles } from './read-cluster.js';

/** The block `gateway` at the top of a file. */
export interface GatewaySettings {
  /** Separates the names of server and tool where several servers are offered as one. Default `__`. */
  readonly separator?: string;
  /** Addresses, as for `serve --listen`. */
  readonly listen?: readonly string[];
  /** Defaults for servers without limits of their own. */
  readonly limits?: LimitSettings;
  /** How long calls in flight may take when the gateway stops. */
  readonly drainMs?: number;
  /** How long a list of all servers waits for a server that does not answer. */
  readonly patienceMs?: number;
  /** What callers may do. */
  readonly access?: AccessSettings;
  /** The cluster that the gateway joins. */
  readonly cluster?: ClusterSettings;
}

export interface GatewayBlockOptions {
  readonly resolve: Resolve;
  /** What names of files are relative to. */
  readonly folder: string;
}

/** Reads the block `gateway` of a file. No other application uses it, so an invalid value is an error. */
export function readGateway(
  { root }: Document,
  report: ConfigReport,
  { resolve, folder }: GatewayBlockOptions,
): GatewaySettings {
  if (!isTable(root)) return {};
  const block = root.get('gateway');
  if (block === undefined) {
    const typo = [...root.keys()].find((key) => nearMiss(key, ['gateway']) !== undefined);
    if (typo !== undefined) report.warning([typo], notKnown(typo, ['gateway']));
    return {};
  }
  if (!isTable(block)) {
    report.error(['gateway'], `must be an object, not ${kindOf(block)}`);
    return {};
  }
  const settings: Record<string, unknown> = {};
  for (const [name, given] of block) {
    const path = ['gateway', name];
    const kind = Object.hasOwn(KINDS, name) ? KINDS[name as keyof GatewaySettings] : undefined;
    if (!kind) {
      // Without the block that restricts callers, more would be allowed than the author wants.
      const guards = nearMiss(name, ['access']) !== undefined;
      report[guards ? 'error' : 'warning'](path, notKnown(name, GATEWAY_NAMES));
      continue;
    }
    const before = report.problems.length;
    const value = kind.read(EXPANDED.has(name) ? expandAll(given, path, report, resolve) : given);
    if (report.problems.length > before) continue;
    if (value !== undefined) {
      settings[name] = name === 'cluster' ? resolveClusterFiles(value as ClusterSettings, folder) : value;
    } else {
      for (const { path: inside, message } of kind.flaws?.(given) ?? [flawOf(kind, given)]) {
        report.error([...path, ...inside], message);
      }
    }
  }
  return settings;
}

/** Later blocks override earlier ones, each limit and each setting of the cluster separately. */
export function mergeGateways(...blocks: readonly GatewaySettings[]): GatewaySettings {
  const limits = Object.assign({}, ...blocks.map((block) => block.limits));
  const cluster = Object.assign({}, ...blocks.map((block) => block.cluster));
  return Object.assign(
    {},
    ...blocks,
    Object.keys(limits).length > 0 && { limits },
    Object.keys(cluster).length > 0 && { cluster },
  );
}

const ADDRESS = /^(stdio$|unix:.|tcp:\/\/.|https?:\/\/.)/;

const KINDS: Readonly<Record<keyof GatewaySettings, ValueKind>> = {
  separator: {
    // It becomes part of tool names, and some clients do not accept other characters there.
    expected: '1 to 8 of the characters A-Z a-z 0-9 _ - . /',
    read: (value) => (typeof value === 'string' && /^[\w./-]{1,8}$/.test(value) ? value : undefined),
  },
  listen: {
    expected:
      'an address such as http://127.0.0.1:8080/mcp, unix:PATH, tcp://HOST:PORT or stdio, or a list of them',
    read(value) {
      const list: unknown[] = Array.isArray(value) ? value : [value];
      const all = list.length > 0 && list.every((item) => typeof item === 'string' && ADDRESS.test(item));
      return all ? list : undefined;
    },
  },
  limits: LIMITS,
  drainMs: MS_OR_NONE,
  patienceMs: MS_OR_NONE,
  access: ACCESS,
  cluster: CLUSTER,
};

/** Their texts may contain references, for example for a port. */
const EXPANDED: ReadonlySet<string> = new Set(['listen', 'cluster']);

export const GATEWAY_NAMES = Object.keys(KINDS);

/** A reference that fails is reported and kept. */
function expandAll(given: unknown, path: Path, report: ConfigReport, resolve: Resolve): unknown {
  if (Array.isArray(given)) return given.map((item, at) => expandAll(item, [...path, at], report, resolve));
  if (isTable(given)) {
    return new Map(
      [...given].map(([name, each]) => [name, expandAll(each, [...path, name], report, resolve)]),
    );
  }
  if (typeof given !== 'string') return given;
  const expanded = expand(given, resolve);
  if (expanded.kind === 'text') return expanded.text;
  for (const failure of expanded.failures) reportFailure(report, path, failure);
  return given;
}
