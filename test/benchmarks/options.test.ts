/** The command line of the benchmarks. */

import { expect, it } from 'vitest';
import { readOptions } from '../../benchmarks/lib/options.js';

const MODES = [
  { name: 'stdio', subjects: ['bare', 'isthmus'], takesEra: true },
  { name: 'http', subjects: ['bare', 'isthmus-50'], takesEra: false },
  { name: 'bridge', subjects: ['direct', 'isthmus'], takesEra: true },
  { name: 'start', takesEra: true },
  { name: 'install', takesEra: false },
];
const read = (...args: string[]) => readOptions(args, MODES);
const whyOf = (...args: string[]) => {
  const options = read(...args);
  return options.kind === 'wrong' ? options.why : options.kind;
};

it('measures stdio in both eras unless told otherwise', () => {
  expect(read()).toEqual({
    kind: 'run',
    modes: ['stdio'],
    only: undefined,
    eras: ['modern', 'legacy'],
    upstreams: ['modern'],
    quick: false,
    check: false,
    format: 'text',
  });
});

it('takes one mode, and --all for every mode except the one that needs a registry', () => {
  expect(read('--start', '--quick')).toMatchObject({ modes: ['start'], quick: true });
  expect(read('--all', '--check')).toMatchObject({
    modes: ['stdio', 'http', 'bridge', 'start'],
    upstreams: ['modern', 'legacy'],
    check: true,
  });
  expect(whyOf('--http', '--bridge')).toBe('--http and --bridge cannot be combined; --all runs every mode');
  expect(whyOf('--all', '--http')).toBe('--all runs every mode; --http is not needed');
});

it('prints the goals of all modes, or of one', () => {
  expect(read('--goals', '--markdown')).toMatchObject({
    kind: 'goals',
    modes: ['stdio', 'http', 'bridge', 'start'],
    format: 'markdown',
  });
  expect(read('--goals', '--bridge')).toMatchObject({ modes: ['bridge'], upstreams: ['modern', 'legacy'] });
});

it('knows the subjects of each mode', () => {
  expect(read('--http', '--only', 'bare, isthmus-50')).toMatchObject({ only: ['bare', 'isthmus-50'] });
  expect(whyOf('--only', 'isthmus-50')).toBe(
    'there is no subject called isthmus-50; there are bare, isthmus',
  );
  expect(whyOf('--start', '--only', 'bare')).toBe('--start does not take --only');
  expect(whyOf('--all', '--only', 'bare')).toBe('--all does not take --only');
});

it('does not check the goals of some of the subjects', () => {
  expect(whyOf('--check', '--only', 'isthmus')).toContain('--only cannot be used with it');
});

it('checks a bridge in front of servers of both eras', () => {
  expect(read('--bridge')).toMatchObject({ upstreams: ['modern'] });
  expect(read('--bridge', '--check')).toMatchObject({ upstreams: ['modern', 'legacy'] });
  expect(read('--bridge', '--check', '--upstream', 'legacy')).toMatchObject({ upstreams: ['legacy'] });
  expect(whyOf('--upstream', 'both')).toBe('--upstream goes with --bridge only');
  expect(whyOf('--bridge', '--upstream', 'old')).toBe('--upstream is modern, legacy or both, not old');
});

it('refuses eras that do not exist, and eras where a mode has none', () => {
  expect(read('--era', 'legacy')).toMatchObject({ eras: ['legacy'] });
  expect(whyOf('--era', 'middle')).toBe('--era is modern or legacy, not middle');
  expect(whyOf('--http', '--era', 'modern')).toBe('--http does not take --era');
});

it('writes one format', () => {
  expect(read('--json')).toMatchObject({ format: 'json' });
  expect(whyOf('--json', '--markdown')).toBe('--json and --markdown cannot be combined');
  expect(whyOf('--fast')).toContain("Unknown option '--fast'");
});
