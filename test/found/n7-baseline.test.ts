import { readFileSync } from 'node:fs';
import { CHECKS } from '@isthmus/check/internal/suites/index.js';
import { expect, it } from 'vitest';

it('N7: every check that docs/check-ci.md names exists', () => {
  const page = readFileSync(new URL('../../docs/check-ci.md', import.meta.url), 'utf8');
  const named = [...page.matchAll(/"check": "([^"]+)"/g)].map(([, id]) => id!);
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((id) => !KNOWN.has(id))).toEqual([]);
});

const KNOWN = new Set(CHECKS.map(({ id }) => id));
