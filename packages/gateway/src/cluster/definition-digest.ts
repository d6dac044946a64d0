import { dirname } from 'node:path';
import type { ClusterKeys } from '@isthmus/sdk/internal/cluster/cluster-keys.js';
import type { GatewayServerSpec } from '../server-definition.js';

/**
 * A digest of the definition of a server, the same in all processes with the same definition: it does not matter where the
 * file is, and in which order it has the options. It is made with the secret of the cluster, because definitions can hold
 * passwords that are easy to guess. With several secrets it is a list, a word for each: see `isSameDefinition`.
 */
export function digestDefinition(keys: Pick<ClusterKeys, 'macs'>, spec: GatewayServerSpec): string {
  const { source: _source, overrides: _overrides, project, ...rest } = spec as Positioned;
  const text = JSON.stringify(inOrder(rest, project));
  return keys
    .macs('member', text)
    .map((mac) => mac.toString('base64url'))
    .join(' ');
}

/**
 * Whether two digests are of the same definition. While the secret of the cluster is replaced, its processes have different
 * lists of secrets. Any two of them have one in common.
 */
export function isSameDefinition(one: string | undefined, other: string | undefined): boolean {
  if (one === other) return true;
  if (one === undefined || other === undefined) return false;
  const words = new Set(other.split(' '));
  return one.split(' ').some((word) => words.has(word));
}

type Positioned = GatewayServerSpec & {
  readonly source?: unknown;
  readonly overrides?: unknown;
  readonly project?: string | undefined;
};

/** The same value with the keys of its objects in order, and with paths from the project of its file. */
function inOrder(value: unknown, project: string | undefined): unknown {
  if (typeof value === 'string') return fromProject(value, project);
  if (Array.isArray(value)) return value.map((each) => inOrder(each, project));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([name, each]) => [name, inOrder(each, project)]);
}

function fromProject(text: string, project: string | undefined): string {
  // Every path begins with a root folder, which is therefore not specific to a file.
  if (project === undefined || dirname(project) === project) return text;
  return text.replaceAll(project, PROJECT);
}

const PROJECT = '<project>';
