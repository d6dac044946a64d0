import type { Refusal, Standing } from '../../transport/http-server/options.js';
import type { Presented } from './credentials.js';

/** One way to tell who asks. */
export type Scheme = (presented: Presented) => Verdict | Promise<Verdict>;

/** What it makes of a request. */
export type Verdict =
  | {
      readonly kind: 'known';
      readonly principal: string;
      readonly standing?: () => Standing | Promise<Standing>;
    }
  /** Nothing that it knows of. */
  | { readonly kind: 'unknown' }
  /** It is of its kind, and not good enough. */
  | { readonly kind: 'refused'; readonly refusal: Refusal };

export const UNKNOWN = { kind: 'unknown' } as const;
