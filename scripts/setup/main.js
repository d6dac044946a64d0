/** An expected failure: its message is all that the reader needs, a stack trace would only hide it. */
export class SetupError extends Error {}

/** Runs a script's body; a failure becomes one message on stderr and a non-zero exit code. */
export async function runMain(body) {
  endWithParent();
  try {
    await body();
  } catch (error) {
    console.error(error instanceof SetupError ? error.message : error);
    process.exitCode = 1;
  }
}

/** Prints one line of progress. */
export function progress(line) {
  process.stderr.write(`isthmus: ${line}\n`);
}

/**
 * Under npm our parent is a shell, and a SIGTERM to npm ends that shell (dash, for one) without reaching us.
 * Without its parent the work is useless, so the loss of the parent counts as a SIGTERM.
 */
function endWithParent() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 500);
  watch.unref();
}
