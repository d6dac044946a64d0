/** What counts as a failure, and under which name. */

import { IsthmusError, ProtocolError } from '@isthmus/sdk/internal/errors.js';
import { describe, expect, it } from 'vitest';
import { judgeError, judgeResult } from '../../src/bench/request.js';

describe('the outcome of a request', () => {
  it('is good unless the tool says otherwise', () => {
    expect(judgeResult({ content: [] })).toBeUndefined();
    expect(judgeResult({ content: [{ type: 'text', text: 'x' }], isError: false })).toBeUndefined();
  });

  it('is a failure with isError, whose text is the example', () => {
    const content = [{ type: 'image' }, { type: 'text', text: 'disk full' }];
    expect(judgeResult({ content, isError: true })).toEqual({
      kind: 'isError',
      example: 'disk full',
      answered: true,
    });
    expect(judgeResult({ isError: true })).toMatchObject({ example: 'the tool failed without a text' });
  });

  it('has the number of what the server refused, and the word of what failed here', () => {
    expect(judgeError(new ProtocolError(-32602, 'bad'))).toEqual({
      kind: 'error -32602',
      example: 'bad',
      answered: true,
    });
    expect(judgeError(new IsthmusError('TIMED_OUT', 'late'))).toMatchObject({
      kind: 'TIMED_OUT',
      answered: false,
    });
    expect(judgeError(new IsthmusError('HTTP_STATUS', '503'))).toMatchObject({ answered: true });
    expect(judgeError(new TypeError('bug'))).toEqual({ kind: 'driver', example: 'bug', answered: false });
  });

  it('keeps the example short', () => {
    expect(judgeError(new ProtocolError(1, 'x'.repeat(5000))).example).toHaveLength(300);
  });
});
