import { setFlagsFromString } from 'node:v8';
import { afterCalls } from '@isthmus/sdk/internal/exchange/call-count.js';

/**
 * Node 20 optimizes a function after a few hundred calls, several times for functions that call each other. That takes
 * more processor time than the first 2,000 calls themselves, and a server of one person seldom gets more. So functions are
 * optimized after three times as much use. A busy server goes back to the usual after its first calls: otherwise some
 * functions were still not optimized after 12,000, and each call took a tenth to a quarter more.
 *
 * `compilesAtOnce`: a function gets machine code, without optimization, when it runs first, and not after some calls. The
 * first 2,000 calls take a tenth to a sixth less then, and the start a little more.
 *
 * Later versions of V8 wait longer by themselves.
 */
export function delayOptimization({ compilesAtOnce = false } = {}): void {
  if (!process.versions.v8.startsWith('11.')) return;
  setBudget(3 * DEFAULT_BUDGET);
  if (compilesAtOnce) setFlagsFromString('--always-sparkplug');
  afterCalls(FIRST_CALLS, () => {
    setBudget(DEFAULT_BUDGET);
    if (compilesAtOnce) setFlagsFromString('--no-always-sparkplug');
  });
}

function setBudget(bytes: number): void {
  setFlagsFromString(`--interrupt-budget=${bytes}`);
}

/** In bytes of bytecode that a function has run. */
const DEFAULT_BUDGET = 66 * 1024;
const FIRST_CALLS = 3000;
