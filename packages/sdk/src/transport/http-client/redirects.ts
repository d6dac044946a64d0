/** What to do about a redirect. */
export type Redirect =
  | { readonly kind: 'follow'; readonly url: URL; readonly sameOrigin: boolean }
  | { readonly kind: 'refuse'; readonly why: string };

export interface RedirectFacts {
  readonly status: number;
  readonly method: string;
  readonly location: string | undefined;
  readonly from: URL;
  readonly allowCrossOrigin: boolean;
  /** How many more may be followed. */
  readonly left: number;
}

export function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

/** Only 307 and 308 keep method and body for certain; after the others a POST would have become a GET. */
export function classifyRedirect(facts: RedirectFacts): Redirect {
  const { status, method, location, from, allowCrossOrigin, left } = facts;
  if (location === undefined || !URL.canParse(location, from.href)) {
    return { kind: 'refuse', why: 'a redirect without a place to go to' };
  }
  const url = new URL(location, from);
  const place = `${url.origin}${url.pathname}`;
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return { kind: 'refuse', why: `a redirect to ${url.protocol}` };
  }
  if (method !== 'GET' && status !== 307 && status !== 308) {
    return {
      kind: 'refuse',
      why: `a redirect to ${place} that does not keep the request; ask there instead`,
    };
  }
  const sameOrigin = url.origin === from.origin;
  if (!sameOrigin && !allowCrossOrigin) {
    return { kind: 'refuse', why: `a redirect to another origin (${place}), which is not followed` };
  }
  if (left <= 0) return { kind: 'refuse', why: `one redirect too many (to ${place})` };
  return { kind: 'follow', url, sameOrigin };
}
