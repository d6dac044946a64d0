/** The known name that differs by one typing error: a letter too many, too few, wrong, or swapped. */
export function nearMiss<T extends string>(name: string, known: readonly T[]): T | undefined {
  return known.find((each) => each !== name && isOneTypo(name.toLowerCase(), each.toLowerCase()));
}

function isOneTypo(a: string, b: string): boolean {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  const most = Math.min(a.length, b.length) - start;
  while (end < most && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const inA = a.slice(start, a.length - end);
  const inB = b.slice(start, b.length - end);
  if (inA.length <= 1 && inB.length <= 1) return true;
  return inA.length === 2 && inB.length === 2 && inA[0] === inB[1] && inA[1] === inB[0];
}
