import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { CommandSpec } from '@isthmus/sdk/internal/config/index.js';
import { nearMiss } from '@isthmus/sdk/internal/near-miss.js';
import { childEnvironment } from '@isthmus/sdk/internal/process/environment.js';
import { oneLine } from '../../terminal/text.js';
import type { Problem } from './diagnosis.js';

/** The reasons why a command cannot start that can be found without starting it. */
export function checkCommand(entry: CommandSpec): Problem[] {
  const folder = statSync(entry.cwd, { throwIfNoEntry: false });
  if (!folder?.isDirectory()) {
    return [
      {
        code: 'folder-missing',
        message: `Its folder ${oneLine(entry.cwd)} ${folder ? 'is not a folder' : 'does not exist'}`,
        advice: 'Make the folder, or correct cwd',
      },
    ];
  }
  const problem = describeLookUp(entry.command, lookUpCommand(entry.command, childEnvironment(entry)));
  return problem ? [problem] : [];
}

/** Pure. */
export function describeLookUp(command: string, found: LookedUp): Problem | undefined {
  const name = oneLine(command);
  switch (found.kind) {
    case 'found':
      return undefined;
    case 'not-executable':
      return {
        code: 'not-executable',
        message: `${oneLine(found.path)} is not executable`,
        advice: `chmod +x ${oneLine(found.path)}, or run it with its interpreter: "command": "node", "args": ["${name}"]`,
      };
    case 'missing':
      return {
        code: 'command-not-found',
        message: name.includes('/')
          ? `The command ${name} does not exist`
          : `The command ${name} is in none of the ${found.folders} folders of PATH`,
        advice:
          found.near === undefined
            ? (INSTALL[name] ?? 'Check the spelling, or give the full path')
            : `Did you mean ${oneLine(found.near)}?`,
      };
  }
}

const UV = 'Install uv (https://docs.astral.sh/uv), or give the full path';
const NODE = 'Install Node.js (https://nodejs.org), or give the full path';
const INSTALL: Readonly<Record<string, string>> = {
  uv: UV,
  uvx: UV,
  node: NODE,
  npx: NODE,
  npm: NODE,
  bun: 'Install Bun (https://bun.sh), or give the full path',
  bunx: 'Install Bun (https://bun.sh), or give the full path',
  deno: 'Install Deno (https://deno.com), or give the full path',
  docker: 'Install Docker (https://docs.docker.com), or give the full path',
  python: 'Install Python, or write python3',
  pipx: 'Install pipx (https://pipx.pypa.io), or give the full path',
};

export type LookedUp =
  | { readonly kind: 'found'; readonly path: string }
  | { readonly kind: 'not-executable'; readonly path: string }
  | { readonly kind: 'missing'; readonly near: string | undefined; readonly folders: number };

/** Looks for a command as the system does. On Windows the rules differ, and the command counts as found. */
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
