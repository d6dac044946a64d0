import { IsthmusError } from '../../errors.js';
import type { ApiKey } from './key-ring.js';

/** Lines of `name: token` or a bare token. Names of files and lines are in the error, never what stands there. */
export function parseBearerFile(text: string, path: string): ApiKey[] {
  const keys: ApiKey[] = [];
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  for (const [index, raw] of lines.entries()) {
    const line = raw.replace(/(^|\s)#.*$/, '').trim();
    if (line === '') continue;
    // Tokens hold no colon (RFC 6750, §2.1), names may hold blanks.
    const found = /^(?:([^:]+):)?\s*([^\s:]+)$/.exec(line);
    if (!found) {
      const why = 'is neither a token nor `name: token`';
      throw new IsthmusError('INVALID_OPTION', `Line ${index + 1} of ${path} ${why}`);
    }
    const name = found[1]?.trim();
    keys.push(name === undefined ? { key: found[2]! } : { name, key: found[2]! });
  }
  if (keys.length > 0) return keys;
  throw new IsthmusError('INVALID_OPTION', `${path} has no tokens: write one \`name: token\` a line`);
}
