import { mkdirSync, writeFileSync } from 'node:fs';
import { freeFolder } from '../../packages/cli/test/support/isthmus.js';
import { ISTHMUS } from '../support/child.js';

/** A folder in which the lines of the page can be run as they are: `npx` starts the demo server there. */
export interface Workshop {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

export function openWorkshop(): Workshop {
  const folder = freeFolder();
  mkdirSync(`${folder}/bin`);
  const program = (name: string, words: string) =>
    writeFileSync(`${folder}/bin/${name}`, `#!/bin/sh\nexec "${process.execPath}" "${ISTHMUS}" ${words}\n`, {
      mode: 0o755,
    });
  program('isthmus', '"$@"');
  program('npx', 'demo');
  const server = { command: 'npx', args: ['-y', 'some-server'], timeout: 60, transportType: 'stdio' };
  writeFileSync(
    `${folder}/servers.json`,
    JSON.stringify({
      mcpServers: { fetch: { enabled: true, ...server }, old: { enabled: false, ...server } },
    }),
  );
  writeFileSync(`${folder}/headers.txt`, 'Authorization: Bearer s3cret\n');
  return {
    folder,
    env: {
      PATH: `${folder}/bin:${process.env['PATH']}`,
      HOME: folder,
      XDG_CACHE_HOME: folder,
      TOKEN: 's3cret',
      KEY: 'k3y',
      // What the page leaves to the default.
      ISTHMUS_PORT: '0',
    },
  };
}
