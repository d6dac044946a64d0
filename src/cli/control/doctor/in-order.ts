/** Does so many things at the same time, and gives what came of them in the order in which they were given. */
export async function* inOrder<T>(work: readonly (() => Promise<T>)[], atOnce: number): AsyncGenerator<T> {
  const begun: Promise<T>[] = [];
  const begin = () => {
    const next = work[begun.length];
    if (!next) return;
    const doing = next();
    // Looked at in its turn; until then it must not count as forgotten.
    doing.catch(() => {});
    begun.push(doing);
    void doing.then(begin, begin);
  };
  for (let at = 0; at < atOnce; at += 1) begin();
  for (let at = 0; at < work.length; at += 1) yield await begun[at]!;
}
