import { describe, expect, it } from 'vitest';
import type { Revision } from '../../src/shapes/index.js';
import { saidOf } from '../support/shapes/said.js';

const withMeta = (_meta: unknown, revision?: Revision) =>
  saidOf('tools/call', { content: [], _meta }, revision);

describe('_meta', () => {
  it.each(['x', 'a_b.c-d', 'com.example/x', 'com.example/', 'a/1', 'a-b.c1/x', 'progressToken'])(
    'may have the key %s (META-015, META-016)',
    (key) => {
      expect(withMeta({ [key]: 1 })).toEqual([]);
    },
  );

  it.each(['_x', 'x_', '-a/x', 'a-/x', '1a/x', 'a..b/x', '/x', 'a/b/c', 'a b', 'com.example/-x'])(
    'cannot have the key %s (META-015, META-016)',
    (key) => {
      const complaint = `result._meta: expected keys such as "name" or "com.example/name", got "${key}"`;
      expect(withMeta({ [key]: 1 })).toEqual([complaint]);
      expect(withMeta({ [key]: 1 }, '2025-06-18')).toEqual([complaint]);
      expect(withMeta({ [key]: 1 }, '2025-03-26')).toEqual([]);
    },
  );

  it('is an object in every revision', () => {
    expect(withMeta('none', '2024-11-05')).toEqual(['result._meta: expected an object, got "none"']);
    expect(withMeta([])).toEqual(expect.arrayContaining(['result._meta: expected an object, got an array']));
  });

  const trace = '0af7651916cd43dd8448eb211c80319c';
  const span = 'b7ad6b7169203331';

  it('carries traces as W3C writes them (META-020)', () => {
    expect(
      withMeta({
        traceparent: `00-${trace}-${span}-01`,
        tracestate: 'congo=t61rcWkgMzE, rojo=00f067aa0ba902b7',
        baggage: 'userId=alice,serverNode=DF%2028;prop=1',
      }),
    ).toEqual([]);
  });

  it.each([
    ['traceparent', 'a traceparent of W3C Trace Context', `00-${'0'.repeat(32)}-${span}-01`],
    ['traceparent', 'a traceparent of W3C Trace Context', `ff-${trace}-${span}-01`],
    ['traceparent', 'a traceparent of W3C Trace Context', `00-${trace}-${span}`],
    ['tracestate', 'a tracestate of W3C Trace Context', 'Upper=1'],
    ['baggage', 'W3C Baggage', 'no equals sign'],
  ])('%s is %s, not %s', (key, expected, value) => {
    expect(withMeta({ [key]: value })).toEqual([`result._meta.${key}: expected ${expected}, got "${value}"`]);
    expect(withMeta({ [key]: value }, '2025-11-25')).toEqual([]);
  });
});
