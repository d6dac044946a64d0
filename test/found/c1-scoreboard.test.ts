import { existsSync, readFileSync } from 'node:fs';
import { CLIENT_CHECKS } from '@isthmus/check/internal/client/catalogue.js';
import { CHECKS } from '@isthmus/check/internal/suites/index.js';
import { objectionTo } from '@isthmus/check/internal/survey/callable-tools.js';
import { expect, it } from 'vitest';
import { REAL_CLIENTS } from '../../scoreboard/real-clients.js';
import { matchReasons, readReasons } from '../../scoreboard/reasons.js';

const inRoot = (path: string) => new URL(`../../${path}`, import.meta.url);

it('C1: a failure of a MUST without a reason is named, and so is a reason that is not needed any more', () => {
  const reasons = [
    { check: 'a/b', peers: ['one', 'two'], why: 'It does.', source: 'x.js' },
    { check: 'c/d', peers: ['three'], why: 'It does.', source: 'y.js' },
  ];
  const rows = [
    { name: 'one', broken: ['a/b', 'e/f'] },
    { name: 'two', broken: [] },
  ];
  expect(matchReasons(rows, reasons)).toEqual({ unexplained: ['one: e/f'], stale: ['two: a/b'] });
});

it('C1: the reasons of the scoreboard name checks that exist and files of the peer, in whole sentences', () => {
  const ids = new Set([...CHECKS, ...CLIENT_CHECKS].map(({ id }) => id));
  const reasons = readReasons();
  expect(reasons.filter(({ check }) => !ids.has(check)).map(({ check }) => check)).toEqual([]);
  expect(reasons.filter(({ why }) => !/^[A-Z].{20,}\.$/s.test(why))).toEqual([]);
  expect(reasons.filter(({ source }) => !/\.(?:js|mjs|ts)\b/.test(source))).toEqual([]);
});

it('C1: every MUST that fails on the page has its reason', () => {
  const page = readFileSync(inRoot('docs/scoreboard.md'), 'utf8').split('\n');
  const bare = page.filter(
    (line, at) => line.startsWith('- MUST ') && !page[at + 1]?.startsWith("  - The peer's: "),
  );
  expect(bare).toEqual([]);
  for (const { name } of REAL_CLIENTS) expect(page.some((line) => line.startsWith(`| ${name} |`))).toBe(true);
});

it('C1: real servers and clients are pinned, without the host of a registry, and apart from our own lock', () => {
  const lock = readFileSync(inRoot('scoreboard/package-lock.json'), 'utf8');
  expect(lock).not.toMatch(/"resolved"|https?:\/\/[^"]*registry/);
  const { dependencies } = JSON.parse(readFileSync(inRoot('scoreboard/package.json'), 'utf8'));
  expect(Object.values<string>(dependencies).filter((version) => !/^\d/.test(version))).toEqual([]);
  expect(REAL_CLIENTS.filter(({ program }) => !existsSync(inRoot(program)))).toEqual([]);
});

it('C1: with --no-tools not even a tool that only reads is called, unless it is allowed by name', () => {
  const tool = { name: 'search', annotations: { readOnlyHint: true } };
  const consent = { callTools: true, allow: [], noTools: true };
  expect(objectionTo(tool, consent)).toBe('search is not called because of --no-tools');
  expect(objectionTo(tool, { ...consent, allow: ['search'] })).toBeUndefined();
});
