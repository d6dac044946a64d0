import { decodeEvent } from '@isthmus/sdk/internal/transport/http-client/read-answer.js';
import { decodeLine } from '@isthmus/sdk/internal/wire/codec.js';
import { isTooDeep } from '@isthmus/sdk/internal/wire/depth.js';
import { describe, expect, it } from 'vitest';
import { cpuMsOf } from '../support/cpu-time.js';

const TOO_DEEP = {
  code: -32600,
  message: 'Invalid request: the JSON is nested more than 1000 levels deep',
};

function nested(levels: number): string {
  return `${'['.repeat(levels)}${']'.repeat(levels)}`;
}

describe('S11: JSON that is nested deeply', () => {
  it('is refused with the id of the request, before it is parsed', () => {
    const text = `{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":${nested(2_000_000)}}}`;
    const bytes = Buffer.from(text);
    let decoded: unknown;
    expect(cpuMsOf(() => (decoded = decodeLine(bytes)))).toBeLessThan(150);
    expect(decoded).toMatchObject({ kind: 'invalid', id: 7, error: TOO_DEEP });
  });

  it('is refused as an answer, too, and the request is named that waits for it', () => {
    const text = `{"jsonrpc":"2.0","id":7,"result":{"a":${nested(5000)}}}`;
    expect(decodeLine(Buffer.from(text))).toMatchObject({ kind: 'invalid', answers: 7, error: TOO_DEEP });
    expect(decodeEvent({ data: text, id: undefined, event: undefined })).toMatchObject({
      kind: 'invalid',
      answers: 7,
    });
  });

  it('is taken up to 1,000 levels', () => {
    expect(isTooDeep(nested(1000))).toBe(false);
    expect(isTooDeep(nested(1001))).toBe(true);
    expect(isTooDeep(`${'{"a":'.repeat(1000)}1${'}'.repeat(1000)}`)).toBe(false);
    expect(isTooDeep(`${'{"a":'.repeat(1001)}1${'}'.repeat(1001)}`)).toBe(true);
  });

  it('is told from brackets in strings, and from many values side by side', () => {
    expect(isTooDeep(JSON.stringify({ a: '['.repeat(5000) }))).toBe(false);
    expect(isTooDeep(JSON.stringify({ a: `\\"${'{'.repeat(5000)}` }))).toBe(false);
    expect(isTooDeep(JSON.stringify(Array.from({ length: 5000 }, () => [{}])))).toBe(false);
    expect(isTooDeep(`["${'\\'.repeat(2000)}",${nested(1001)}]`)).toBe(true);
  });
});
