import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeLine, decodeText, decodeValue, encodeMessage, oversizeMessage } from '../../src/wire/codec.js';
import {
  type Decoded,
  errorMessage,
  type JsonRpcMessage,
  notificationMessage,
  requestMessage,
  resultMessage,
} from '../../src/wire/json-rpc.js';

const badError = 'Invalid response: error must have an integer code and a string message';

describe('a line is decoded as', () => {
  it('a request, with its id, method and params', () => {
    expect(decode('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo"}}')).toEqual({
      kind: 'request',
      id: 7,
      method: 'tools/call',
      params: { name: 'echo' },
    });
  });

  it('a request without params', () => {
    expect(decode('{"jsonrpc":"2.0","id":"a","method":"ping"}')).toEqual({
      kind: 'request',
      id: 'a',
      method: 'ping',
      params: undefined,
    });
  });

  it.each([0, -1, '', '0', 9007199254740991, -9007199254740991, 'é🚀'])(
    'a request whose id is %j, value and type kept (JRPC-002, JRPC-006)',
    (id) => {
      const decoded = decode(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"ping"}`);
      expect(decoded).toEqual({ kind: 'request', id, method: 'ping', params: undefined });
    },
  );

  it('a notification when there is no id (JRPC-012)', () => {
    expect(decode('{"jsonrpc":"2.0","method":"notifications/initialized"}')).toEqual({
      kind: 'notification',
      method: 'notifications/initialized',
      params: undefined,
    });
  });

  it('a result (JRPC-007)', () => {
    expect(decode('{"jsonrpc":"2.0","id":0,"result":{"a":[1]}}')).toEqual({
      kind: 'result',
      id: 0,
      result: { a: [1] },
    });
  });

  it.each(['{"a":1}', '[1]', '"text"', '7', 'null'])(
    'an error, with data %s preserved (JRPC-009, JRPC-010)',
    (data) => {
      const line = `{"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"no","data":${data}}}`;
      expect(decode(line)).toEqual({
        kind: 'error',
        id: 'x',
        error: { code: -32601, message: 'no', data: JSON.parse(data) },
      });
    },
  );

  it.each([
    ['lacks its id', '{"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}}'],
    [
      'has the null id of plain JSON-RPC',
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}',
    ],
  ])('an error that %s, since the peer could not read one (JRPC-009)', (_, line) => {
    expect(decode(line)).toEqual({ kind: 'error', id: undefined, error: { code: -32700, message: 'no' } });
  });

  it('a message with unknown members, which are ignored', () => {
    expect(decode('{"extra":1,"jsonrpc":"2.0","id":1,"method":"x","trace":{},"params":{}}')).toEqual({
      kind: 'request',
      id: 1,
      method: 'x',
      params: {},
    });
  });

  it('a message with white space around it', () => {
    expect(decode(' \t{ "jsonrpc" : "2.0" , "method" : "x" } \r')).toEqual({
      kind: 'notification',
      method: 'x',
      params: undefined,
    });
  });

  it('a message with characters of every width (JRPC-016)', () => {
    const text = 'aé\u0085\u2028\u2029日\uFFFD🚀\u0000\uFEFF';
    expect(decode(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'x', params: { text } }))).toEqual({
      kind: 'request',
      id: 1,
      method: 'x',
      params: { text },
    });
  });

  it.each(['a', 'é', '日'])('a message of two megabytes of %s', (unit) => {
    const text = unit.repeat((2 << 20) / Buffer.byteLength(unit));
    const decoded = decode(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'x', params: { text } }));
    expect(decoded.kind === 'request' && decoded.params?.['text'] === text).toBe(true);
  });

  it('a batch, each item on its own, good or bad (JRPC-017, JRPC-018)', () => {
    const line =
      '[{"jsonrpc":"2.0","id":1,"method":"x"},{"jsonrpc":"2.0","method":"y"},7,[],{"jsonrpc":"2.0","id":2,"method":3}]';
    expect(decode(line)).toEqual({
      kind: 'batch',
      items: [
        { kind: 'request', id: 1, method: 'x', params: undefined },
        { kind: 'notification', method: 'y', params: undefined },
        invalid(-32600, 'Invalid request: a message must be a JSON object'),
        invalid(-32600, 'Invalid request: a message must be a JSON object'),
        invalid(-32600, 'Invalid request: method must be a string', 2),
      ],
    });
  });
});

describe('a line that is not a message is answered with', () => {
  it.each([
    ['{', undefined],
    ['', undefined],
    ['hello', undefined],
    ['{"jsonrpc":"2.0","id":7,"method":"x","params":{"price":Infinity}}', 7],
    ["{'jsonrpc':'2.0','id':7,'method':'x'}", undefined],
    ['\uFEFF{"jsonrpc":"2.0","id":7,"method":"x"}', undefined],
    ['{"jsonrpc":"2.0","id":1,"method":"x"}{"jsonrpc":"2.0","id":2,"method":"x"}', 1],
  ])('-32700 when it is not JSON: %s (ERR-018, STDIO-002)', (line, id) => {
    expect(decode(line)).toEqual(invalid(-32700, 'Parse error: the line is not valid JSON', id));
  });

  it('-32700 without an id when it is a broken answer, but says whose answer it was', () => {
    expect(decode('{"jsonrpc":"2.0","id":7,"result":{"price":NaN}}')).toEqual({
      ...invalid(-32700, 'Parse error: the line is not valid JSON', undefined),
      answers: 7,
    });
  });

  it.each([
    ['a lone continuation byte', [0x80], 7],
    ['an overlong slash', [0xc0, 0xaf], 7],
    ['a surrogate', [0xed, 0xa0, 0x80], 7],
    ['a character cut short', [0xe2, 0x82], 7],
    ['a byte that UTF-8 never has', [0xff], 7],
  ])('-32700 and its id when it is not UTF-8: %s (JRPC-016)', (_, bytes, id) => {
    const start = Buffer.from('{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"');
    const decoded = decodeLine(Buffer.concat([start, Buffer.from(bytes), Buffer.from('"}}')]));
    expect(decoded).toEqual(invalid(-32700, 'Parse error: the line is not valid UTF-8', id));
  });

  it('-32700 without an id when the id itself is not UTF-8', () => {
    const line = Buffer.from('{"jsonrpc":"2.0","id":"a\xff","method":"x"}', 'latin1');
    expect(decodeLine(line)).toEqual(invalid(-32700, 'Parse error: the line is not valid UTF-8'));
  });

  it('-32700 without an id when it is an answer that is not UTF-8, but says whose answer it was (JRPC-016)', () => {
    const [start, end] = ['{"jsonrpc":"2.0","id":7,"result":{"a":"', '"}}'].map((text) =>
      Buffer.from(text),
    ) as [Buffer, Buffer];
    expect(decodeLine(Buffer.concat([start, Buffer.from([0xff, 0xfe, 0xed, 0xa0, 0x80]), end]))).toEqual({
      ...invalid(-32700, 'Parse error: the line is not valid UTF-8', undefined),
      answers: 7,
    });
    const nameless = Buffer.from('{"jsonrpc":"2.0","id":"a\xff","result":{}}', 'latin1');
    expect(decodeLine(nameless)).toEqual(invalid(-32700, 'Parse error: the line is not valid UTF-8'));
  });

  it('-32700 when one byte of megabytes is not UTF-8', () => {
    const line = Buffer.from(`{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"${'a'.repeat(2 << 20)}"}}`);
    line[line.length - 100] = 0xff;
    expect(decodeLine(line)).toEqual(invalid(-32700, 'Parse error: the line is not valid UTF-8', 7));
  });

  it.each(['7', '"text"', 'true', 'null'])('-32600 when it is the scalar %s (ERR-018)', (line) => {
    expect(decode(line)).toEqual(invalid(-32600, 'Invalid request: a message must be a JSON object'));
  });

  it('-32600 when it is an empty batch', () => {
    expect(decode('[]')).toEqual(invalid(-32600, 'Invalid request: a batch must not be empty'));
  });

  it.each([
    ['{}', undefined],
    ['{"id":1,"method":"x"}', 1],
    ['{"jsonrpc":"1.0","id":1,"method":"x"}', 1],
    ['{"jsonrpc":2.0,"id":1,"method":"x"}', 1],
    ['{"jsonrpc":"2.0 ","id":"a","method":"x"}', 'a'],
    ['{"jsonrpc":["2.0"],"method":"x"}', undefined],
    ['{"jsonrpc":null,"id":1}', 1],
  ])('-32600 when jsonrpc is not exactly "2.0": %s (JRPC-001)', (line, id) => {
    expect(decode(line)).toEqual(invalid(-32600, 'Invalid request: jsonrpc must be "2.0"', id));
  });

  it.each(['null', '1.5', 'true', '{}', '[1]', '9007199254740993', '1e400', '-1e300'])(
    '-32600 without an id when the id is %s (JRPC-002, JRPC-003)',
    (id) => {
      expect(decode(`{"jsonrpc":"2.0","id":${id},"method":"x"}`)).toEqual(
        invalid(-32600, 'Invalid request: id must be a string or an integer'),
      );
    },
  );

  it.each(['7', 'null', '{}', '["x"]', 'true'])('-32600 and its id when method is %s', (method) => {
    expect(decode(`{"jsonrpc":"2.0","id":1,"method":${method}}`)).toEqual(
      invalid(-32600, 'Invalid request: method must be a string', 1),
    );
  });

  it.each(['[]', '[1]', 'null', '7', '"x"', 'false'])('-32600 and its id when params is %s', (params) => {
    expect(decode(`{"jsonrpc":"2.0","id":1,"method":"x","params":${params}}`)).toEqual(
      invalid(-32600, 'Invalid request: params must be an object', 1),
    );
  });

  it.each(['"result":{}', '"error":{"code":1,"message":"x"}', '"result":null'])(
    '-32600 and its id when method stands beside %s',
    (member) => {
      expect(decode(`{"jsonrpc":"2.0","id":1,"method":"x",${member}}`)).toEqual(
        invalid(-32600, 'Invalid request: a message with a method must not have result or error', 1),
      );
    },
  );

  it.each([
    ['{"jsonrpc":"2.0"}', undefined],
    ['{"jsonrpc":"2.0","id":1}', 1],
    ['{"jsonrpc":"2.0","id":null,"params":{}}', undefined],
  ])('-32600 when it has no method, result or error: %s (ERR-018)', (line, id) => {
    expect(decode(line)).toEqual(invalid(-32600, 'Invalid request: method, result or error is missing', id));
  });

  it('one short sentence (JRPC-011)', () => {
    for (const line of ['{', '7', '[]', '{}', '{"jsonrpc":"2.0"}', '{"jsonrpc":"2.0","id":1,"result":7}']) {
      const decoded = decode(line);
      expect(decoded.kind === 'invalid' && decoded.error.message).toMatch(/^[A-Z][^\n]{10,80}$/);
    }
  });
});

describe('a malformed response is reported without its id, which the peer may be waiting on itself', () => {
  it.each([
    ['Invalid response: jsonrpc must be "2.0"', '{"id":1,"result":{}}'],
    ['Invalid response: jsonrpc must be "2.0"', '{"jsonrpc":"1.0","id":1,"error":{"code":1,"message":"x"}}'],
    [
      'Invalid response: a response must not have both result and error',
      '{"jsonrpc":"2.0","id":1,"result":{},"error":{}}',
    ],
    [
      'Invalid response: a response must not have both result and error',
      '{"jsonrpc":"2.0","id":1,"result":{},"error":null}',
    ],
    ['Invalid response: result must be an object', '{"jsonrpc":"2.0","id":1,"result":null}'],
    ['Invalid response: result must be an object', '{"jsonrpc":"2.0","id":1,"result":[]}'],
    ['Invalid response: result must be an object', '{"jsonrpc":"2.0","id":1,"result":"ok"}'],
    ['Invalid response: id must be a string or an integer', '{"jsonrpc":"2.0","result":{}}'],
    ['Invalid response: id must be a string or an integer', '{"jsonrpc":"2.0","id":null,"result":{}}'],
    ['Invalid response: id must be a string or an integer', '{"jsonrpc":"2.0","id":1.5,"result":{}}'],
    [
      'Invalid response: id must be a string or an integer',
      '{"jsonrpc":"2.0","id":{},"error":{"code":1,"message":""}}',
    ],
    [badError, '{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"x"}}'],
    [badError, '{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"x"}}'],
    [badError, '{"jsonrpc":"2.0","id":1,"error":{"code":1}}'],
    [badError, '{"jsonrpc":"2.0","id":1,"error":{"message":"x"}}'],
    [badError, '{"jsonrpc":"2.0","id":1,"error":"x"}'],
    [badError, '{"jsonrpc":"2.0","id":1,"error":null}'],
    [badError, '{"jsonrpc":"2.0","id":1,"error":[]}'],
  ])('%s: %s (JRPC-007, JRPC-008, JRPC-009)', (message, line) => {
    // The asking side learns whose answer it was; the id is never sent back.
    const answers = line.includes('"id":1,') ? { answers: 1 } : {};
    expect(decode(line)).toEqual({ ...invalid(-32600, message), ...answers });
  });
});

describe('decoding', () => {
  it('refuses 100,000 levels of nesting, valid or not', () => {
    const open = '['.repeat(100_000);
    const close = ']'.repeat(100_000);
    const tooDeep = 'Invalid request: the JSON is nested more than 1000 levels deep';
    expect(decode(`{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":${open}${close}}}`)).toEqual(
      invalid(-32600, tooDeep, 1),
    );
    expect(decode(open + close)).toEqual(invalid(-32600, tooDeep));
    const objects = '{"id":2,"a":'.repeat(100_000);
    expect(decode(`{"jsonrpc":"2.0","id":1,"method":"x","params":${objects}`)).toEqual(
      invalid(-32600, tooDeep, 1),
    );
    expect(decode(open)).toEqual(invalid(-32600, tooDeep));
  });

  it('takes nothing from __proto__, constructor or prototype, and changes no prototype', () => {
    expect(decode('{"__proto__":{"jsonrpc":"2.0","id":1,"method":"x"}}')).toEqual(
      invalid(-32600, 'Invalid request: jsonrpc must be "2.0"'),
    );
    const decoded = decode(
      '{"jsonrpc":"2.0","id":1,"method":"constructor","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"params":{"__proto__":{"polluted":1}}}',
    );
    expect(decoded).toMatchObject({ kind: 'request', id: 1, method: 'constructor' });
    expect(decoded.kind === 'request' && Object.getPrototypeOf(decoded.params)).toBe(Object.prototype);
    expect(decoded.kind === 'request' && decoded.params?.['polluted']).toBeUndefined();
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('never throws and always says what it found, whatever the bytes', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array)),
      fc.json().map((text) => Buffer.from(text)),
      fc
        .record(
          {
            jsonrpc: fc.constantFrom('2.0', '1.0', 2),
            id: fc.jsonValue({ maxDepth: 1 }),
            method: fc.jsonValue({ maxDepth: 1 }),
            params: fc.jsonValue({ maxDepth: 1 }),
            result: fc.jsonValue({ maxDepth: 1 }),
            error: fc.jsonValue({ maxDepth: 1 }),
          },
          { requiredKeys: [] },
        )
        .map((value) => Buffer.from(JSON.stringify(value))),
    );
    const kinds = ['request', 'notification', 'result', 'error', 'invalid', 'batch'];
    fc.assert(
      fc.property(bytes, (line) => {
        const decoded = decodeLine(line);
        expect(kinds).toContain(decoded.kind);
        if (decoded.kind === 'invalid') expect([-32700, -32600]).toContain(decoded.error.code);
      }),
      { numRuns: 2000 },
    );
  });

  it('of a parsed value is decoding of its line', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(decodeValue(value)).toEqual(decode(JSON.stringify(value)));
      }),
    );
    expect(decodeValue(undefined)).toEqual(
      invalid(-32600, 'Invalid request: a message must be a JSON object'),
    );
  });
});

describe('encoding', () => {
  it.each<[JsonRpcMessage, string]>([
    [requestMessage(0, 'x', { a: 1 }), '{"jsonrpc":"2.0","id":0,"method":"x","params":{"a":1}}'],
    [notificationMessage('x'), '{"jsonrpc":"2.0","method":"x"}'],
    [resultMessage('', {}), '{"jsonrpc":"2.0","id":"","result":{}}'],
    [
      errorMessage(undefined, { code: -32700, message: 'no' }),
      '{"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}}',
    ],
  ])('gives one line of JSON: %j', (message, line) => {
    expect(encodeMessage(message)).toBe(line);
  });

  it('leaves no raw newline in the line, whatever the text (STDIO-001)', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const line = encodeMessage(notificationMessage('x', { text: `${text}\r\n${text}` }));
        expect(line).not.toMatch(/[\r\n]/);
        expect(decode(line)).toEqual({
          kind: 'notification',
          method: 'x',
          params: { text: `${text}\r\n${text}` },
        });
      }),
    );
  });

  it('throws NOT_ENCODABLE for what JSON cannot hold', () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    const refusal = { code: 'NOT_ENCODABLE', cause: expect.any(TypeError) };
    expect(() => encodeMessage(resultMessage(1, cycle))).toThrow(expect.objectContaining(refusal));
    expect(() => encodeMessage(resultMessage(1, { big: 1n }))).toThrow(expect.objectContaining(refusal));
  });
});

describe('a line over the limit', () => {
  it('is answered with the limit and the id that its ends show', () => {
    const head = Buffer.from('{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"aaa');
    expect(oversizeMessage(head, Buffer.from('aaa"}}'), 1024)).toEqual({
      kind: 'invalid',
      id: 7,
      error: {
        code: -32600,
        message: 'Invalid request: the line is longer than 1024 bytes',
        data: { limit: 1024 },
      },
    });
  });

  it('may be cut inside a character', () => {
    const rocket = Buffer.from('🚀');
    const head = Buffer.concat([Buffer.from('{"method":"x","params":{"a":"'), rocket.subarray(0, 2)]);
    const tail = Buffer.concat([rocket.subarray(2), Buffer.from('"},"id":"é"}')]);
    expect(oversizeMessage(head, tail, 1024).id).toBe('é');
  });

  it('is answered without an id when neither end shows one', () => {
    expect(oversizeMessage(Buffer.from('aaa'), Buffer.from('aaa'), 1024).id).toBeUndefined();
  });
});

function decode(line: string): Decoded {
  const decoded = decodeLine(Buffer.from(line));
  expect(decodeText(line)).toEqual(decoded);
  return decoded;
}

function invalid(code: number, message: string, id?: string | number): Decoded {
  return { kind: 'invalid', id, error: { code, message } };
}
