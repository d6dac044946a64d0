import { ensureBuilt } from '../../scripts/setup.js';

/**
 * Builds dist once, before any test file runs, for the tests that use the package as its users do.
 *
 * A failed build is shown but does not stop the run: a test of a pure function has no need of dist, and the
 * tests that have one call `ensureBuilt` again and fail with the compiler's message.
 */
export async function setup(): Promise<void> {
  try {
    await ensureBuilt();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
  }
}
