import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type ReadOptions, readServers, type ServerEntry } from '../../src/config/index.js';

/** A folder with these files in it, gone when the test ends. */
export function folderWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'isthmus-config-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

export interface Seen {
  readonly folder: string;
  readonly servers: Readonly<Record<string, ServerEntry>>;
  /** `severity line:column key: message`. */
  readonly problems: readonly string[];
}

/** Reads one text as the file of that name, with nothing of this machine showing through. */
export async function read(
  text: string | Uint8Array,
  options: ReadOptions & { readonly as?: string } = {},
): Promise<Seen> {
  const { as = '.mcp.json', ...rest } = options;
  const folder = folderWith({ [as]: text });
  const { servers, problems } = await readServers(join(folder, as), {
    env: {},
    home: '/home/ada',
    cwd: '/elsewhere',
    ...rest,
  });
  return {
    folder,
    servers,
    problems: problems.map(
      (each) => `${each.severity} ${each.line}:${each.column} ${each.key}: ${each.message}`,
    ),
  };
}

/** One server `x` in `mcpServers`. */
export function server(value: unknown): string {
  return JSON.stringify({ mcpServers: { x: value } }, null, 2);
}

/** The server `x` without what says where it comes from. */
export async function readOne(value: unknown, options?: ReadOptions): Promise<Record<string, unknown>> {
  const { servers, problems } = await read(server(value), options);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const { source, ...entry } = servers['x']!;
  return entry;
}
