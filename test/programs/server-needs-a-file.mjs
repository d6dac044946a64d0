// Its vice: it ends at once, unless a file is there. Speaks both eras.
// node server-needs-a-file.mjs FILE
import { existsSync } from 'node:fs';
import { serveLines } from './support/line-server.mjs';

const file = process.argv[2];
if (!existsSync(file)) {
  process.stderr.write(`cannot read ${file}\n`, () => process.exit(1));
} else serveLines({ name: 'needs-a-file' });
