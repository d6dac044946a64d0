import type { Upstream } from '@isthmus/sdk/bridge';
import { http } from '@isthmus/sdk/http';
import type { Connector } from '@isthmus/sdk/internal/exchange/connection.js';
import { type Diary, diary, keepFar, startHttpFar } from './far.js';

export const FARS = ['legacy stdio', 'modern stdio', 'legacy HTTP', 'modern HTTP'] as const;
export type FarKind = (typeof FARS)[number];

/** A far side of any kind. */
export async function openFar(kind: FarKind): Promise<{ upstream: Upstream | Connector; diary: Diary }> {
  const era = kind.startsWith('legacy') ? 'legacy' : 'modern';
  if (kind.endsWith('stdio')) {
    const { host, diary: written } = keepFar(era);
    return { upstream: host.upstream('far'), diary: written };
  }
  const written = diary();
  return { upstream: http((await startHttpFar(era, written)).url), diary: written };
}
