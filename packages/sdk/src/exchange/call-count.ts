/** How many calls are left before `reached` is called; 0: nothing waits for a number of calls. */
let left = 0;
let reached = () => {};

/** Calls back when this process has served so many calls, from now on. A second use replaces the first. */
export function afterCalls(count: number, action: () => void): void {
  left = count;
  reached = action;
}

/** A call begins. */
export function countCall(): void {
  if (left === 0) return;
  left -= 1;
  if (left === 0) reached();
}
