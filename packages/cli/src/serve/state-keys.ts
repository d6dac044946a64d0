import { existsSync, readFileSync } from 'node:fs';
import { reasonWithoutPath } from '@isthmus/sdk/internal/errors.js';
import { usageError } from '../cli-error.js';

/**
 * The keys that seal `requestState`: from the file of --state-key, else from ISTHMUS_STATE_KEY. The first seals, all
 * open. A key is never a word of the command line, where every user of the machine can read it, and no error shows one.
 */
export function readStateKeys(file: string | undefined): readonly string[] | undefined {
  const given = process.env['ISTHMUS_STATE_KEY'];
  // Children get what they need, and not this.
  delete process.env['ISTHMUS_STATE_KEY'];
  if (file !== undefined) return toKeys(readKeyFile(file), `The file of --state-key, ${file},`);
  return given ? toKeys(given, 'ISTHMUS_STATE_KEY') : undefined;
}

function readKeyFile(file: string): string {
  // A path may have the length and the characters of a key.
  if (isKey(file) && !existsSync(file)) {
    throw usageError(
      '--state-key takes the path of a file, and this is a key',
      `${ON_COMMAND_LINE}. ${HINT}`,
    );
  }
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    // What was given is not shown: it may be a key in another form, in hex for example.
    throw usageError(`The file of --state-key cannot be read: ${reasonWithoutPath(error)}`, HINT);
  }
}

function toKeys(text: string, where: string): readonly string[] {
  const lines = text.split('\n').map((line) => line.trim());
  const keys = lines
    .filter((line) => !line.startsWith('#'))
    .flatMap((line) => line.split(/[\s,]+/).filter(Boolean));
  const wrong = keys.findIndex((key) => !isKey(key));
  if (keys.length > 0 && wrong === -1) return keys;
  const what = keys.length === 0 ? 'holds no key' : `holds something that is not a key (number ${wrong + 1})`;
  throw usageError(`${where} ${what}: a key is 32 bytes as base64url, 43 characters`, HINT);
}

/** 32 bytes; padding and the other alphabet of base64 are accepted, as `Buffer` does. */
function isKey(text: string): boolean {
  return /^[\w+/-]{43}=?$/.test(text);
}

const ON_COMMAND_LINE = 'Every user of the machine can read a command line, so make a new key';
const HINT =
  'Make one with: openssl rand -base64 32. Put it into a file that only you can read, or into ISTHMUS_STATE_KEY; several, one a line, the first seals';
