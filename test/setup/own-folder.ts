import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for what lives as long as a worker: workers are ended, and have no time to tidy up. */
export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-run-'));
  process.env['ISTHMUS_TEST_FOLDER'] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
