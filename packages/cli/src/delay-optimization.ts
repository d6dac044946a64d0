import { setFlagsFromString } from 'node:v8';

/**
 * Node 20 optimizes a function after a few hundred calls, several times for functions that call each other. That takes
 * more processor time than the first 2,000 calls themselves, and a server of one person seldom gets more. Three times as
 * much use before that costs less for these calls, and no more for all later ones: V8 has seen more and optimizes once.
 *
 * Later versions of V8 wait longer by themselves.
 */
export function delayOptimization(): void {
  if (process.versions.v8.startsWith('11.')) setFlagsFromString(`--interrupt-budget=${3 * DEFAULT_BUDGET}`);
}

/** In bytes of bytecode that a function has run. */
const DEFAULT_BUDGET = 66 * 1024;
