import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { basename, delimiter, resolve } from 'node:path';

export type FoundProgram =
  | { readonly kind: 'found'; readonly path: string }
  | { readonly kind: 'missing'; readonly message: string; readonly hint: string };

/** What the system would start for a command, in the environment that the process gets. */
export async function findProgram(
  command: string,
  { env, cwd }: { readonly env: Readonly<Record<string, string | undefined>>; readonly cwd: string },
  platform: NodeJS.Platform = process.platform,
): Promise<FoundProgram> {
  const isFile = /[\\/]/.test(command);
  const folders = isFile ? [cwd] : pathOf(env, platform).split(delimiter);
  const suffixes =
    platform === 'win32' ? ['', ...(lookUp(env, 'PATHEXT') ?? '.EXE;.CMD;.BAT').split(';')] : [''];
  let locked: string | undefined;
  for (const folder of folders) {
    for (const suffix of suffixes) {
      // An empty part of the path is the folder that the process starts in.
      const path = resolve(cwd, folder, `${command}${suffix}`);
      const found = await stat(path).catch(() => undefined);
      if (!found?.isFile()) continue;
      if (await mayRun(path)) return { kind: 'found', path };
      locked ??= path;
    }
  }
  if (locked !== undefined) {
    const hint = `chmod +x ${locked}, or start it with what runs it (node, python …)`;
    return { kind: 'missing', message: `${command} is there, but may not be run`, hint };
  }
  if (isFile) {
    return {
      kind: 'missing',
      message: `there is no file ${command}`,
      hint: 'look for a slip in it, or build it first',
    };
  }
  const comes = COMES_WITH[basename(command)];
  return {
    kind: 'missing',
    message: `${command} is not in the path`,
    hint: `${comes === undefined ? 'install it' : `install ${comes}, which it comes with`}, or write where it is: /…/${command}`,
  };
}

const COMES_WITH: Readonly<Record<string, string>> = {
  npx: 'Node.js',
  npm: 'Node.js',
  node: 'Node.js',
  uvx: 'uv',
  uv: 'uv',
  bunx: 'Bun',
  pipx: 'pipx',
  docker: 'Docker',
};

async function mayRun(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Where systems look when nobody says. */
function pathOf(env: Readonly<Record<string, string | undefined>>, platform: NodeJS.Platform): string {
  return lookUp(env, 'PATH') ?? (platform === 'win32' ? '' : '/usr/local/bin:/bin:/usr/bin');
}

/** On Windows names of variables have no case. */
function lookUp(env: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  return env[name] ?? Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1];
}
