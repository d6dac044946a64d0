import { inRoot } from './paths.js';

// Run with `node <file>`: the same on every system, where node_modules/.bin is not.
export const tsc = inRoot('node_modules/typescript/bin/tsc');
export const biome = inRoot('node_modules/@biomejs/biome/bin/biome');
export const vitest = inRoot('node_modules/vitest/vitest.mjs');
