import { lstatSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { messageOf } from '@isthmus/sdk/internal/errors.js';
import type { GatewayStatus } from '../server-state.js';
import { type ControlAddress, controlFolders, pipePrefix } from './control-address.js';
import { controlClient, isUnreachable } from './control-client.js';
import { removeStaleSocket } from './private-socket.js';

/** A control socket on which somebody listens. */
export type FoundGateway = { readonly name: string; readonly path: string } & (
  | { readonly status: GatewayStatus; readonly problem?: undefined }
  /** It did not tell its status: another version, too busy, or no gateway at all. */
  | { readonly status?: undefined; readonly problem: string }
);

export interface ListGatewaysOptions extends ControlAddress {
  /** How long each may take to answer. Default 2 s. */
  readonly askMs?: number;
}

/** The running gateways of this user, the longest running first. What dead ones left is removed on the way. */
export async function listGateways(options: ListGatewaysOptions = {}): Promise<FoundGateway[]> {
  const { askMs = 2000 } = options;
  const asked = await Promise.all(socketPaths(options).map((path) => askAt(path, askMs)));
  const found = asked.filter((each) => each !== undefined);
  return [
    ...found
      .filter(({ status }) => status)
      .sort((a, b) => (a.status!.startedAt < b.status!.startedAt ? -1 : 1)),
    ...found.filter(({ status }) => !status),
  ];
}

async function askAt(path: string, askMs: number): Promise<FoundGateway | undefined> {
  const name = basename(path).replace(/\.sock$/, '');
  try {
    return { name, path, status: await controlClient(path, { statusMs: askMs }).status() };
  } catch (error) {
    if (!isUnreachable(error)) return { name, path, problem: messageOf(error) };
    await removeStaleSocket(path).catch(() => {});
    const isThere = process.platform !== 'win32' && lstatSync(path, { throwIfNoEntry: false }) !== undefined;
    return isThere ? { name, path, problem: messageOf(error) } : undefined;
  }
}

function socketPaths(place: ControlAddress): string[] {
  const isWindows = (place.platform ?? process.platform) === 'win32';
  const prefix = isWindows ? pipePrefix(place.env) : '';
  return controlFolders(place).flatMap((folder) =>
    namesIn(folder)
      .filter((name) => (isWindows ? name.startsWith(prefix) : name.endsWith('.sock')))
      .map((name) => (isWindows ? `${folder}${name}` : join(folder, name)))
      .filter((path) => isWindows || lstatSync(path, { throwIfNoEntry: false })?.isSocket()),
  );
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort().slice(0, MAX_SOCKETS);
  } catch {
    return [];
  }
}

const MAX_SOCKETS = 1000;
