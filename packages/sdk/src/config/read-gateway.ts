import { type Document, isTable, kindOf, type Path } from './documents/document.js';
import { expand, type Resolve, reportFailure } from './expand.js';
import { flawOf, MS_OR_NONE, nearMiss, notKnown, type ValueKind } from './options/option-kinds.js';
import { LIMITS } from './options/option-table.js';
import type { ConfigReport } from './report.js';
import type { LimitSettings } from './server-spec.js';

/** The block `gateway` at the top of a file. */
export interface GatewaySettings {
  /** Between the name of a server and that of its tool where several servers are one. Default `__`. */
  readonly separator?: string;
  /** Addresses as `serve --listen` takes them. */
  readonly listen?: readonly string[];
  /** For every server that does not say otherwise. */
  readonly limits?: LimitSettings;
  /** How long calls in flight may take when the gateway stops. */
  readonly drainMs?: number;
  /** How long the others are kept waiting for a server that does not answer. */
  readonly patienceMs?: number;
}

/** The block `gateway` of a file. It is ours alone, so a wrong value is an error of the file. */
export function readGateway({ root }: Document, report: ConfigReport, resolve: Resolve): GatewaySettings {
  if (!isTable(root)) return {};
  const block = root.get('gateway');
  if (block === undefined) {
    const typo = [...root.keys()].find((key) => nearMiss(key, ['gateway']) !== undefined);
    if (typo !== undefined) report.warning([typo], notKnown(typo, ['gateway']));
    return {};
  }
  if (!isTable(block)) {
    report.error(['gateway'], `must be an object, and is ${kindOf(block)}`);
    return {};
  }
  const settings: Record<string, unknown> = {};
  for (const [name, given] of block) {
    const path = ['gateway', name];
    const kind = Object.hasOwn(KINDS, name) ? KINDS[name as keyof GatewaySettings] : undefined;
    if (!kind) {
      report.warning(path, notKnown(name, GATEWAY_NAMES));
      continue;
    }
    const before = report.problems.length;
    const value = kind.read(name === 'listen' ? expandAll(given, path, report, resolve) : given);
    if (report.problems.length > before) continue;
    if (value !== undefined) settings[name] = value;
    else {
      const { path: inside, message } = flawOf(kind, given);
      report.error([...path, ...inside], message);
    }
  }
  return settings;
}

/** What a later one says wins, also limit by limit. */
export function mergeGateways(...blocks: readonly GatewaySettings[]): GatewaySettings {
  const limits = Object.assign({}, ...blocks.map((block) => block.limits));
  return Object.assign({}, ...blocks, Object.keys(limits).length > 0 && { limits });
}

const ADDRESS = /^(stdio$|unix:.|tcp:\/\/.|https?:\/\/.)/;

const KINDS: Readonly<Record<keyof GatewaySettings, ValueKind>> = {
  separator: {
    // A tool is called by the whole, and not every client takes every character in a name.
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
};

export const GATEWAY_NAMES = Object.keys(KINDS);

/** Addresses may have a port from the environment. What cannot be expanded is reported, and stays as it is. */
function expandAll(given: unknown, path: Path, report: ConfigReport, resolve: Resolve): unknown {
  if (Array.isArray(given)) return given.map((item, at) => expandAll(item, [...path, at], report, resolve));
  if (typeof given !== 'string') return given;
  const expanded = expand(given, resolve);
  if (expanded.kind === 'text') return expanded.text;
  for (const failure of expanded.failures) reportFailure(report, path, failure);
  return given;
}
