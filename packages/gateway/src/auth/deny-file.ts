import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { SchemeVerdict } from './credentials.js';
import { invalidToken } from './token-caller.js';
import { linesOf, watchFile } from './watched-file.js';

type KnownVerdict = Extract<SchemeVerdict, { kind: 'known' }>;

/** Credentials that are not accepted any more, although they have not ended: a JWT is good until its end otherwise. */
export interface DenyFile {
  /** The verdict on a credential that is good: refused if the file names it, its caller or its client. */
  judge(verdict: KnownVerdict): Promise<SchemeVerdict>;
}

/**
 * A file with one entry a line: `jti ID`, `principal NAME` or `client ID`. It is read again within a second after it has changed.
 * What was opened with a credential that is denied later ends.
 */
export function openDenyFile(
  path: string,
  options: { readonly clock: Clock; readonly warn: (message: string) => void },
): DenyFile {
  const parse = (text: string) => parseDenyFile(text, path);
  const stays = 'the entries read before stay in force';
  const file = watchFile(path, { ...options, name: 'deny file', stays, isSecret: false, parse });
  const isDenied = async (verdict: KnownVerdict) => {
    const denied = await file.current();
    return entriesOf(verdict).some((each) => denied.has(each));
  };
  return {
    async judge(verdict) {
      const { principal, clientId, standing } = verdict;
      if (await isDenied(verdict)) return invalidToken('The credential was revoked', { principal, clientId });
      return {
        ...verdict,
        standing: async () => ((await isDenied(verdict)) ? 'revoked' : ((await standing?.()) ?? 'good')),
      };
    },
  };
}

function entriesOf({ principal, clientId, claims }: KnownVerdict): readonly string[] {
  const jti = claims?.['jti'];
  return [
    `principal ${principal}`,
    ...(clientId === undefined ? [] : [`client ${clientId}`]),
    ...(typeof jti === 'string' ? [`jti ${jti}`] : []),
  ];
}

/** An empty file denies nothing. */
function parseDenyFile(text: string, path: string): ReadonlySet<string> {
  return new Set(
    linesOf(text).map(({ number, line }) => {
      const [, kind, value] = /^(jti|principal|client)\s+(\S.*)$/.exec(line) ?? [];
      if (kind !== undefined && value !== undefined) return `${kind} ${value}`;
      const why = 'is not `jti ID`, `principal NAME` or `client ID`';
      throw new IsthmusError('INVALID_OPTION', `Line ${number} of ${path} ${why}`);
    }),
  );
}
