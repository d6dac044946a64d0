import { stat } from 'node:fs/promises';
import {
  type KnownFile,
  knownFiles,
  surveyServers,
  type Whereabouts,
} from '@isthmus/sdk/internal/config/index.js';
import { table } from '../terminal/table.js';
import type { Terminal } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';

export interface ListedFile extends KnownFile {
  readonly there: boolean;
  /** Their names. */
  readonly servers: readonly string[];
}

/** Where applications keep their servers, there or not. */
export async function listFiles(where: Whereabouts = {}): Promise<readonly ListedFile[]> {
  const files = knownFiles(where);
  const { cwd, home, env } = where;
  const surveyed = await surveyServers(
    files.map(({ path }) => path),
    { skipMissing: true, ...(cwd && { cwd }), ...(home && { home }), ...(env && { env }) },
  );
  return Promise.all(
    files.map(async (file, at) => ({
      ...file,
      there: await stat(file.path).then(
        () => true,
        () => false,
      ),
      servers: surveyed[at]!.definitions.map(({ name }) => name),
    })),
  );
}

export function renderFiles(files: readonly ListedFile[], { width, out }: Terminal): string {
  const rows = files.map(({ application, scope, path, there, servers }) => [
    application,
    scope,
    oneLine(path),
    there ? servers.map(oneLine).join(', ') || '(no servers)' : '-',
  ]);
  return table(rows, { width, paint: (text, column) => (column === 0 ? out.bold(text) : text) });
}
