import { describe, expect, test } from 'vitest';
import { classifyProbe, eraOf, type ProbeOutcome } from '../../../src/era/classify/classify-probe.js';

const TRIED = ['2026-07-28'];

function error(code: number, data?: unknown): ProbeOutcome {
  return { kind: 'error', error: { code, message: 'no', data } };
}

function discovered(members: Record<string, unknown>): ProbeOutcome {
  return { kind: 'result', result: { capabilities: {}, ...members } };
}

describe('a result', () => {
  test('with our revision among others is modern, in that revision (VER-016)', () => {
    const result = {
      supportedVersions: ['2025-11-25', '2026-07-28', '2099-01-01'],
      instructions: 'be kind',
      capabilities: { tools: { listChanged: true } },
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'x', version: '1' } },
    };
    expect(classifyProbe(discovered(result), TRIED)).toEqual({
      kind: 'modern',
      revision: '2026-07-28',
      server: {
        info: { name: 'x', version: '1' },
        capabilities: { tools: { listChanged: true } },
        instructions: 'be kind',
      },
      why: expect.any(String),
    });
  });

  test('without server info or instructions is modern all the same (DISC-005, DISC-010)', () => {
    expect(
      classifyProbe(discovered({ supportedVersions: ['2026-07-28'], instructions: 7 }), TRIED),
    ).toMatchObject({ kind: 'modern', server: { info: undefined, instructions: undefined } });
  });

  test('with a top-level serverInfo only keeps the name, and warns of the draft shape (DISC-004, P7)', () => {
    const verdict = classifyProbe(
      discovered({ supportedVersions: ['2026-07-28'], serverInfo: { name: 'old', version: '1' } }),
      TRIED,
    );
    expect(verdict).toMatchObject({
      kind: 'modern',
      server: { info: { name: 'old', version: '1' } },
      warnings: [expect.stringContaining('draft shape')],
    });
  });

  test.each([
    [['2025-06-18', '2024-11-05'], '2025-06-18'],
    [['2099-01-01', '2024-11-05'], '2024-11-05'],
    [['2025-03-26'], '2025-03-26'],
  ])(
    'that names only legacy revisions in common (%j) is legacy in the newest of them',
    (versions, newest) => {
      expect(classifyProbe(discovered({ supportedVersions: versions }), TRIED)).toMatchObject({
        kind: 'legacy',
        revision: newest,
      });
    },
  );

  test.each([[['2099-01-01']], [[]], [['draft', 7, null]]])(
    'that names nothing in common (%j) says what each side speaks (VER-002)',
    (versions) => {
      const verdict = classifyProbe(discovered({ supportedVersions: versions }), TRIED);
      expect(verdict.kind).toBe('incompatible');
      expect(verdict.why).toContain('2026-07-28');
      expect(verdict.why).toContain('2024-11-05');
      if (versions.length > 0) expect(verdict.why).toContain(String(versions[0]));
    },
  );

  test.each([
    {},
    { tools: [] },
    { supportedVersions: '2026-07-28' },
    { supportedVersions: { 0: '2026-07-28' } },
    { protocolVersion: '2025-11-25', serverInfo: { name: 'x', version: '1' } },
  ])('that is no DiscoverResult (%j) is a legacy server being polite', (result) => {
    expect(classifyProbe({ kind: 'result', result }, TRIED)).toMatchObject({
      kind: 'legacy',
      revision: '2025-11-25',
    });
  });
});

describe('an error', () => {
  test.each([
    -32700, -32603, -32602, -32601, -32600, -32000, -32001, -32002, -32019, -32023, -32042, -1, 0, 1, 404,
  ])('%i is a legacy server: no code has a meaning of its own (VER-015)', (code) => {
    for (const data of [undefined, {}, { supported: ['2026-07-28'] }]) {
      expect(classifyProbe(error(code, data), TRIED)).toMatchObject({
        kind: 'legacy',
        revision: '2025-11-25',
        why: expect.stringContaining(String(code)),
      });
    }
  });

  test('-32022 that names our revision is asked once more, and then no more (VER-002, VER-010)', () => {
    const refused = error(-32022, { supported: ['2026-07-28', '2025-11-25'], requested: 'x' });
    expect(classifyProbe(refused, ['2026-07-28'])).toMatchObject({ kind: 'retry', revision: '2026-07-28' });
    expect(classifyProbe(refused, ['2026-07-28', '2026-07-28'])).toMatchObject({
      kind: 'incompatible',
      why: expect.stringContaining('2026-07-28'),
    });
  });

  test('-32022 never leads to the handshake while a modern revision is in common (VER-010)', () => {
    const refused = error(-32022, { supported: ['2025-11-25', '2026-07-28'] });
    for (const tried of [['2026-07-28'], ['2026-07-28', '2026-07-28'], ['a', 'b', 'c']]) {
      expect(classifyProbe(refused, tried).kind).not.toBe('legacy');
    }
  });

  test('-32022 whose only common revision is legacy leads to the handshake in it', () => {
    expect(
      classifyProbe(error(-32022, { supported: ['2099-01-01', '2025-06-18', '2025-03-26'] }), TRIED),
    ).toMatchObject({ kind: 'legacy', revision: '2025-06-18' });
  });

  test('-32022 with nothing in common names what the server speaks (VER-002)', () => {
    expect(classifyProbe(error(-32022, { supported: ['2099-01-01'] }), TRIED)).toMatchObject({
      kind: 'incompatible',
      why: expect.stringContaining('2099-01-01'),
    });
  });

  test.each([
    [-32020, undefined],
    [-32021, { requiredCapabilities: { sampling: {} } }],
  ])('%i is modern: asked once more, never spoken to as legacy (VER-010)', (code, data) => {
    expect(classifyProbe(error(code, data), ['2026-07-28'])).toMatchObject({ kind: 'retry' });
    expect(classifyProbe(error(code, data), ['2026-07-28', '2026-07-28'])).toMatchObject({
      kind: 'incompatible',
      why: expect.stringContaining(String(code)),
    });
  });

  test.each([undefined, null, 'x', 7, [], {}, { supported: '2026-07-28' }, { supported: null }])(
    '-32022 with data %j makes neither a loop nor an exception',
    (data) => {
      const kinds: string[] = [];
      const tried: string[] = [];
      for (let i = 0; i < 10; i += 1) {
        tried.push('2026-07-28');
        const verdict = classifyProbe(error(-32022, data), tried);
        kinds.push(verdict.kind);
        if (verdict.kind !== 'retry') break;
      }
      expect(kinds.length).toBeLessThanOrEqual(2);
      expect(kinds.at(-1)).not.toBe('modern');
    },
  );

  test('without id is legacy, whatever its code (VER-015)', () => {
    for (const code of [-32700, -32600, -32601]) {
      expect(classifyProbe({ kind: 'idless', error: { code, message: 'no' } }, TRIED)).toMatchObject({
        kind: 'legacy',
        why: expect.stringContaining('without id'),
      });
    }
  });
});

test('silence and an exit are legacy, and the reason says which (VER-015)', () => {
  expect(classifyProbe({ kind: 'silence', afterMs: 1234 }, TRIED)).toMatchObject({
    kind: 'legacy',
    why: expect.stringContaining('1234 ms'),
  });
  expect(classifyProbe({ kind: 'gone', message: 'stopped with code 1' }, TRIED)).toMatchObject({
    kind: 'legacy',
    why: expect.stringContaining('stopped with code 1'),
  });
});

test('a revision belongs to an era, an unknown one to none', () => {
  expect(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'].map(eraOf)).toEqual(
    Array(4).fill('legacy'),
  );
  expect(eraOf('2026-07-28')).toBe('modern');
  for (const unknown of ['auto', 'legacy', 'modern', '2026-07-29', '2025-11-25 ', '']) {
    expect(eraOf(unknown)).toBeUndefined();
  }
});
