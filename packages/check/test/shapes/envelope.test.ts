import { describe, expect, it } from 'vitest';
import { judgeError, judgeMessage, type Revision } from '../../src/shapes/index.js';
import { REVISIONS, said } from '../support/shapes/said.js';

describe('envelopes', () => {
  it.each([
    { jsonrpc: '2.0', id: 1, method: 'ping' },
    { jsonrpc: '2.0', id: '', method: 'ping', params: {} },
    { jsonrpc: '2.0', method: 'notifications/message', params: {} },
    { jsonrpc: '2.0', id: 0, result: {} },
    { jsonrpc: '2.0', id: 'a', error: { code: 1, message: '' } },
    { jsonrpc: '2.0', error: { code: -32020, message: '' } },
    { jsonrpc: '2.0', id: null, error: { code: -32700, message: '' } },
    { jsonrpc: '2.0', id: null, error: { code: -32600, message: '' } },
  ])('%j is sound', (message) => {
    expect(said(judgeMessage(message))).toEqual([]);
  });

  it.each<[unknown, string[]]>([
    ['ping', ['message: expected a JSON-RPC object, got "ping"']],
    [null, ['message: expected a JSON-RPC object, got null']],
    [[], ['message: expected a JSON-RPC object, got an array']],
    [{ id: 1, result: {} }, ['jsonrpc: expected "2.0", got nothing']],
    [{ jsonrpc: 2, id: 1, result: {} }, ['jsonrpc: expected "2.0", got 2']],
    [{ jsonrpc: '2.0', id: 1 }, ['message: expected one of method, result and error, got none']],
    [{ jsonrpc: '2.0', id: null, method: 'ping' }, ['id: expected a string or an integer, got null']],
    [{ jsonrpc: '2.0', id: 1.5, method: 'ping' }, ['id: expected a string or an integer, got 1.5']],
    [{ jsonrpc: '2.0', id: 1, method: 7 }, ['method: expected a string, got 7']],
    [{ jsonrpc: '2.0', method: 'a', params: [] }, ['params: expected an object, got an array']],
    [{ jsonrpc: '2.0', id: 1, method: 'a', result: {} }, ['result: expected nothing, got an object']],
    [{ jsonrpc: '2.0', result: {} }, ['id: expected a string or an integer, got nothing']],
    [{ jsonrpc: '2.0', id: null, result: {} }, ['id: expected a string or an integer, got null']],
    [{ jsonrpc: '2.0', id: 1, result: [] }, ['result: expected an object, got an array']],
    [{ jsonrpc: '2.0', id: 1, result: null }, ['result: expected an object, got null']],
    [
      { jsonrpc: '2.0', id: 1, result: {}, error: { code: 1, message: '' } },
      ['error: expected nothing, got an object'],
    ],
    [{ jsonrpc: '2.0', id: 1, error: 'broken' }, ['error: expected an object, got "broken"']],
    [
      { jsonrpc: '2.0', id: null, error: { code: -32601, message: '' } },
      ['id: expected a string or an integer, got null'],
    ],
    [{ jsonrpc: '2.0', id: 1, result: {}, took: 5 }, ['took: expected nothing, got 5']],
  ])('complains about %j (JRPC-001 to JRPC-009)', (message, complaints) => {
    expect(said(judgeMessage(message))).toEqual(complaints);
  });

  it('a batch is a message in 2025-03-26 alone (JRPC-017, JRPC-019)', () => {
    const batch = [
      { jsonrpc: '2.0', id: 1, result: {} },
      { jsonrpc: '2.0', id: 2 },
    ];
    expect(said(judgeMessage(batch, '2025-03-26'))).toEqual([
      '[1]: expected one of method, result and error, got none',
    ]);
    expect(said(judgeMessage([{ id: 1, result: {} }], '2025-03-26'))).toEqual([
      '[0].jsonrpc: expected "2.0", got nothing',
    ]);
    expect(said(judgeMessage([], '2025-03-26'))).toEqual(['message: expected messages, got an empty array']);
    for (const revision of ['2024-11-05', '2025-06-18', '2026-07-28'] as const)
      expect(said(judgeMessage(batch, revision))).toEqual([
        'message: expected a JSON-RPC object, got an array',
      ]);
  });
});

describe('errors', () => {
  const saidOf = (error: unknown, revision: Revision = '2026-07-28') => said(judgeError(error, revision));
  const withCode = (code: unknown, revision?: Revision) => saidOf({ code, message: 'no' }, revision);

  it.each(REVISIONS)('have a code and a message in %s (JRPC-009)', (revision) => {
    expect(saidOf({ code: -32601, message: '', data: null }, revision)).toEqual([]);
    expect(saidOf({ code: 7, message: 'own' }, revision)).toEqual([]);
    expect(saidOf({}, revision)).toEqual([
      'error.code: expected an integer, got nothing',
      'error.message: expected a string, got nothing',
    ]);
    expect(withCode('-32601', revision)).toEqual(['error.code: expected an integer, got "-32601"']);
    expect(withCode(-32500, revision)).toEqual([
      'error.code: expected a code that JSON-RPC does not reserve, got -32500',
    ]);
  });

  it('-32020 to -32099 belong to MCP since 2026-07-28 (ERR-004, ERR-006, ERR-008)', () => {
    const reserved =
      'error.code: expected -32020, -32021 or -32022 in the range that MCP reserves (ERR-004), got';
    expect(withCode(-32020)).toEqual([]);
    expect(withCode(-32023)).toEqual([`${reserved} -32023`]);
    expect(withCode(-32042)).toEqual([`${reserved} -32042`]);
    expect(withCode(-32099)).toEqual([`${reserved} -32099`]);
    expect(withCode(-32002)).toEqual([
      'error.code: expected -32602, since -32002 is of earlier revisions (ERR-006), got -32002',
    ]);
    expect(withCode(-32001)).toEqual([]);
    for (const code of [-32002, -32023, -32099]) expect(withCode(code, '2025-11-25')).toEqual([]);
  });

  it.each<[number, unknown, string[]]>([
    [-32022, { supported: ['2026-07-28'], requested: '1900-01-01' }, []],
    [-32022, undefined, [': expected an object, got nothing']],
    [
      -32022,
      { supported: '2026-07-28' },
      ['.supported: expected an array, got "2026-07-28"', '.requested: expected a string, got nothing'],
    ],
    [-32021, { requiredCapabilities: { elicitation: { form: {} } } }, []],
    [-32021, {}, ['.requiredCapabilities: expected an object, got nothing']],
    [
      -32021,
      { requiredCapabilities: ['sampling'] },
      ['.requiredCapabilities: expected an object, got an array'],
    ],
    [
      -32021,
      { requiredCapabilities: { sampling: true } },
      ['.requiredCapabilities.sampling: expected an object, got true'],
    ],
    [
      -32021,
      { requiredCapabilities: { extensions: { tasks: {} } } },
      [
        '.requiredCapabilities.extensions: expected keys with a prefix such as "com.example/name", got "tasks"',
      ],
    ],
  ])('%i carries %j (ERR-011, META-008)', (code, data, complaints) => {
    expect(saidOf({ code, message: 'no', data })).toEqual(complaints.map((each) => `error.data${each}`));
  });

  it('-32042 lists visits in 2025-11-25 (ERR-021)', () => {
    const visit = { mode: 'url', message: 'a', url: 'https://a.example', elicitationId: 'e' };
    const carrying = (elicitations: unknown) =>
      saidOf({ code: -32042, message: 'a', data: { elicitations } }, '2025-11-25');
    expect(carrying([visit])).toEqual([]);
    expect(carrying(undefined)).toEqual(['error.data.elicitations: expected an array, got nothing']);
    expect(carrying([{ ...visit, mode: 'form', elicitationId: undefined }])).toEqual([
      'error.data.elicitations[0].mode: expected "url", got "form"',
      'error.data.elicitations[0].elicitationId: expected a string, got nothing',
    ]);
  });
});
