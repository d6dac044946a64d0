import type { CredentialState, Refusal } from '@isthmus/sdk/internal/transport/http-server/options.js';
import type { Presented } from './credentials.js';

/** One way to tell who asks. */
export type Scheme = (presented: Presented) => SchemeVerdict | Promise<SchemeVerdict>;

/** What it makes of a request. */
export type SchemeVerdict =
  | {
      readonly kind: 'known';
      readonly principal: string;
      readonly standing?: () => CredentialState | Promise<CredentialState>;
    }
  /** Nothing that it knows of. */
  | { readonly kind: 'unknown' }
  /** It is of its kind, and not good enough. */
  | { readonly kind: 'refused'; readonly refusal: Refusal };

export const UNKNOWN = { kind: 'unknown' } as const;
