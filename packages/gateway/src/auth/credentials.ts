import type {
  CredentialState,
  HttpRequestFacts,
  Refusal,
  ResourcePlace,
} from '@isthmus/sdk/internal/transport/http-server/options.js';

/** What a request brings along to say who asks. */
export interface Presented {
  /** Of `Authorization: Bearer`. */
  readonly bearer: string | undefined;
  /** All that may be a key: of `X-API-Key`, and the same. */
  readonly tokens: readonly string[];
  /** What they are presented for. */
  readonly resource?: ResourcePlace | undefined;
}

/** Other schemes (Basic …) are none that could be known here: it is as if nothing had been sent. */
export function readCredentials(request: Pick<HttpRequestFacts, 'header' | 'resource'>): Presented {
  const apiKey = request.header('x-api-key')?.trim();
  const bearer = /^bearer +(\S.*)$/i.exec(request.header('authorization')?.trim() ?? '')?.[1];
  const tokens = [apiKey, bearer].filter((token) => token !== undefined && token !== '') as string[];
  return { bearer, tokens, resource: request.resource };
}

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
