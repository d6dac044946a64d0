import { statSync } from 'node:fs';
import type { CommandSpec } from '@isthmus/sdk/internal/config/index.js';
import { childEnvironment } from '@isthmus/sdk/internal/process/environment.js';
import { oneLine } from '../../terminal/text.js';
import type { Problem } from './diagnosis.js';
import { type LookedUp, lookUpCommand } from './look-up-command.js';

/** What keeps a command from being started, as far as that can be seen without starting it. */
export function checkCommand(entry: CommandSpec): Problem[] {
  const folder = statSync(entry.cwd, { throwIfNoEntry: false });
  if (!folder?.isDirectory()) {
    return [
      {
        code: 'folder-missing',
        message: `Its folder ${oneLine(entry.cwd)} ${folder ? 'is no folder' : 'is not there'}`,
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
        message: `${oneLine(found.path)} is no program that can be run`,
        advice: `chmod +x ${oneLine(found.path)}, or run it with its interpreter: "command": "node", "args": ["${name}"]`,
      };
    case 'missing':
      return {
        code: 'command-not-found',
        message: name.includes('/')
          ? `The command ${name} is not there`
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
