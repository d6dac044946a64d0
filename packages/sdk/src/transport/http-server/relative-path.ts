/**
 * The path `to` as a reference that is relative to `from`, both absolute. Behind a proxy that serves us under a
 * prefix, a client resolves it against the address that it used, prefix included.
 */
export function relativePath(from: string, to: string): string {
  const here = from.split('/').slice(1, -1);
  const there = to.split('/').slice(1);
  let common = 0;
  while (common < here.length && common < there.length - 1 && here[common] === there[common]) common += 1;
  const up = here.slice(common).map(() => '..');
  const reference = [...up, ...there.slice(common)].join('/');
  // `?…` alone means the address itself, and a first segment with a colon reads as a scheme.
  return reference === '' || /^[^/]*:/.test(reference) ? `./${reference}` : reference;
}
