import type {
  CoversScopes,
  CredentialState,
  HttpRequestFacts,
  Refusal,
  ResourcePlace,
} from '@isthmus/sdk/internal/transport/http-server/options.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';

/** The credentials of a request. */
export interface Presented {
  /** The token of `Authorization: Bearer`. */
  readonly bearer: string | undefined;
  /** All values that may be a key: that of `X-API-Key`, and the bearer token. */
  readonly tokens: readonly string[];
  /** The resource that the request is for. */
  readonly resource?: ResourcePlace | undefined;
  /** The address of the caller, where it is known. */
  readonly remote?: string | undefined;
  /** Which scopes include others. */
  readonly covers?: CoversScopes | undefined;
}

/** Other schemes (Basic …) are ignored. */
export function readCredentials(
  request: Pick<HttpRequestFacts, 'header' | 'resource' | 'remote' | 'covers'>,
): Presented {
  const apiKey = request.header('x-api-key')?.trim();
  const bearer = /^bearer +(\S.*)$/i.exec(request.header('authorization')?.trim() ?? '')?.[1];
  const tokens = [apiKey, bearer].filter((token) => token !== undefined && token !== '') as string[];
  const { resource, remote, covers } = request;
  return { bearer, tokens, resource, remote, covers };
}

/** One way to authenticate a caller. */
export type Scheme = (presented: Presented) => SchemeVerdict | Promise<SchemeVerdict>;

/** What a scheme decides about a request. */
export type SchemeVerdict =
  | {
      readonly kind: 'known';
      readonly principal: string;
      readonly scopes?: readonly string[];
      readonly requiredScopes?: readonly string[];
      readonly claims?: JsonObject;
      readonly clientId?: string;
      readonly expiresAt?: number;
      readonly standing?: () => CredentialState | Promise<CredentialState>;
    }
  /** The credentials do not belong to this scheme. */
  | { readonly kind: 'unknown' }
  /** The credentials belong to this scheme and are not valid. */
  | { readonly kind: 'refused'; readonly refusal: Refusal };

export const UNKNOWN = { kind: 'unknown' } as const;
