import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { type ApiKey, KeyRing, weaknessOf } from './key-ring.js';
import { linesOf, watchFile } from './watched-file.js';

/** The tokens of a file, as it is now. */
export interface BearerFile {
  /** A removed token is valid for one second at most. */
  ring(): Promise<KeyRing>;
}

export interface BearerFileOptions {
  readonly clock: Clock;
  readonly warn: (message: string) => void;
}

/** Throws for a file that cannot be read or has no tokens. Later, such a file is reported and the earlier tokens stay valid. */
export function openBearerFile(path: string, options: BearerFileOptions): BearerFile {
  const file = watchFile(path, {
    ...options,
    name: 'bearer file',
    stays: 'the tokens read before stay good',
    isSecret: true,
    parse(text) {
      const keys = parseBearerFile(text, path);
      const weak = keys.map(weaknessOf).filter((each) => each !== undefined);
      return { ring: new KeyRing(keys, path), weak };
    },
    warningsOf: ({ weak }) => weak,
  });
  return { ring: async () => (await file.current()).ring };
}

/** Lines of `name: token` or a bare token. Errors name the file and the line, never the content. */
function parseBearerFile(text: string, path: string): ApiKey[] {
  const keys: ApiKey[] = [];
  for (const { number, line } of linesOf(text)) {
    // Tokens hold no colon (RFC 6750, §2.1), names may hold blanks.
    const found = /^(?:([^:]+):)?\s*([^\s:]+)$/.exec(line);
    if (!found) {
      const why = 'is neither a token nor `name: token`';
      throw new IsthmusError('INVALID_OPTION', `Line ${number} of ${path} ${why}`);
    }
    const name = found[1]?.trim();
    keys.push(name === undefined ? { key: found[2]! } : { name, key: found[2]! });
  }
  if (keys.length > 0) return keys;
  throw new IsthmusError('INVALID_OPTION', `${path} has no tokens: write one \`name: token\` a line`);
}
