/**
 * A function that runs `action` once before the next frame is painted, however often it is called until then, and at most
 * every `restMs`: while thousands of events a second come, a person can still type.
 */
export function soon(action: () => void, restMs = 0): () => void {
  let isDue = false;
  let ranAt = Number.NEGATIVE_INFINITY;
  const run = () => {
    isDue = false;
    ranAt = performance.now();
    action();
  };
  return () => {
    if (isDue) return;
    isDue = true;
    const rest = ranAt + restMs - performance.now();
    // A hidden tab paints no frames.
    if (document.hidden || rest > 16) setTimeout(run, Math.max(rest, document.hidden ? 100 : 0));
    else requestAnimationFrame(run);
  };
}
