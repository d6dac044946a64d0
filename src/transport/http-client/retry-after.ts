/** `Retry-After`: seconds or a date (RFC 9110 §10.2.3), in milliseconds from now; `undefined` for anything else. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // Dates begin with a day; `Date.parse` alone would find one in almost anything.
  const date = /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
