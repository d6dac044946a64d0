import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { nearMiss } from '@isthmus/sdk/internal/config/options/option-kinds.js';

export type LookedUp =
  | { readonly kind: 'found'; readonly path: string }
  | { readonly kind: 'not-executable'; readonly path: string }
  | { readonly kind: 'missing'; readonly near: string | undefined; readonly folders: number };

/** Looks for a command as the system will. On Windows, where that is another art, it is believed to be there. */
export function lookUpCommand(
  command: string,
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = process.platform,
): LookedUp {
  if (platform === 'win32') return { kind: 'found', path: command };
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const candidates =
    isAbsolute(command) || command.includes('/') ? [command] : folders.map((folder) => join(folder, command));
  const files = candidates.filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
  const runnable = files.find(isRunnable);
  if (runnable !== undefined) return { kind: 'found', path: runnable };
  if (files.length > 0) return { kind: 'not-executable', path: files[0]! };
  const near = command.includes('/') ? undefined : nearMiss(command, folders.flatMap(namesIn));
  return { kind: 'missing', near, folders: folders.length };
}

function isRunnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
