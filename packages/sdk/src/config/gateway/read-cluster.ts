import { resolve } from 'node:path';
import { isTable } from '../documents/document.js';
import { type Flaw, MS_OR_NONE, notKnown, oneOf, type ValueKind } from '../options/option-kinds.js';

/** How a gateway joins a cluster, in the block `gateway`. `serve` reads it when it starts. */
export interface ClusterSettings {
  /** As `--cluster`. */
  readonly url?: string;
  readonly name?: string;
  readonly listen?: string;
  readonly advertise?: string;
  /** Files are relative to the project of the file that names them. */
  readonly secretFile?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsCa?: string;
  readonly events?: 'shared' | 'owner';
  readonly drainDelayMs?: number;
}

/** A text of a form. Its references are resolved already. */
function text(form: RegExp, expected: string): ValueKind {
  return {
    expected,
    read: (value) => (typeof value === 'string' && form.test(value) ? value : undefined),
  };
}

const PEER = text(/^https?:\/\/(\[[^\]]+\]|[^:/]+):\d{1,5}\/?$/, 'http://HOST:PORT');
const FILE = text(/./, 'the name of a file');

const FIELDS: Readonly<Record<keyof ClusterSettings, ValueKind>> = {
  url: text(
    /^rediss?(\+sentinel|\+cluster)?:\/\/./,
    'redis://HOST:PORT, rediss://…, redis+sentinel://… or redis+cluster://…',
  ),
  name: text(/^[\w.-]{1,64}$/, '1 to 64 letters, digits, dots, dashes and underscores'),
  listen: PEER,
  advertise: PEER,
  secretFile: FILE,
  tlsCert: FILE,
  tlsKey: FILE,
  tlsCa: FILE,
  events: oneOf('shared', 'owner'),
  drainDelayMs: MS_OR_NONE,
};

const NAMES = Object.keys(FIELDS);

export const CLUSTER: ValueKind = {
  expected: 'an object',
  read(value) {
    if (!isTable(value) || flawOfCluster(value)) return undefined;
    return Object.fromEntries([...value].map(([name, each]) => [name, fieldOf(name)!.read(each)]));
  },
  flaw: flawOfCluster,
};

function flawOfCluster(value: unknown): Flaw | undefined {
  for (const [name, each] of isTable(value) ? value : []) {
    const kind = fieldOf(name);
    if (kind?.read(each) !== undefined) continue;
    if (kind) return { path: [name], message: `must be ${kind.expected}` };
    // This file is often shown to others.
    const isSecret = name === 'secret';
    return {
      path: [name],
      message: isSecret
        ? 'does not belong into this file: write secretFile, or set ISTHMUS_CLUSTER_SECRET'
        : notKnown(name, NAMES),
    };
  }
  return undefined;
}

/** With absolute names of files. */
export function resolveClusterFiles(settings: ClusterSettings, folder: string): ClusterSettings {
  const files = FILES.flatMap((name) => {
    const file = settings[name];
    return file === undefined ? [] : [[name, resolve(folder, file)]];
  });
  return { ...settings, ...Object.fromEntries(files) };
}

function fieldOf(name: string): ValueKind | undefined {
  return Object.hasOwn(FIELDS, name) ? FIELDS[name as keyof ClusterSettings] : undefined;
}

const FILES = ['secretFile', 'tlsCert', 'tlsKey', 'tlsCa'] as const;
