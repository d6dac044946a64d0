import type { ClusterSettings } from '@isthmus/sdk/internal/config/index.js';
import type { ClusterFlags } from './cluster-options.js';

/** The options about the cluster. What the command line and the environment leave out is as the files say. */
export function withClusterOfFile<T extends ClusterFlags>(
  options: T,
  settings: ClusterSettings | undefined,
): T {
  const found = entries(settings).filter(([flag]) => options[flag] === undefined);
  if (found.length === 0) return options;
  return { ...options, ...Object.fromEntries(found), clusterOfFile: new Set(found.map(([flag]) => flag)) };
}

/** How a user has written an option: as a flag, or as a key of a file. */
export function nameOfOption(options: ClusterFlags, name: ClusterFlag): string {
  if (options.clusterOfFile?.has(name)) return `gateway.cluster.${KEYS[name]}`;
  return `--${name.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`)}`;
}

export type ClusterFlag = Exclude<keyof ClusterFlags, 'clusterOfFile'>;

function entries(settings: ClusterSettings = {}): [ClusterFlag, unknown][] {
  return (Object.keys(KEYS) as ClusterFlag[]).flatMap((flag) => {
    const value = settings[KEYS[flag]];
    return value === undefined ? [] : [[flag, value]];
  });
}

const KEYS: Readonly<Record<ClusterFlag, keyof ClusterSettings>> = {
  cluster: 'url',
  clusterSecretFile: 'secretFile',
  clusterName: 'name',
  clusterListen: 'listen',
  clusterAdvertise: 'advertise',
  clusterTlsCert: 'tlsCert',
  clusterTlsKey: 'tlsKey',
  clusterTlsCa: 'tlsCa',
  clusterEvents: 'events',
  drainDelay: 'drainDelayMs',
};
