import { describe, expect, it } from 'vitest';
import { judgeMessage } from '../../src/console/judge-message.js';

const result = (content: unknown, more: object = {}) => ({
  ...{ kind: 'result' as const, method: 'tools/call', revision: '2025-11-25' },
  message: { jsonrpc: '2.0', id: 1, result: { content, ...more } },
});

describe('a message of a server in the console', () => {
  it('fits the schema of its revision, or is told what does not', async () => {
    expect(await judgeMessage(result([{ type: 'text', text: 'x' }]))).toEqual([]);
    expect(await judgeMessage(result('x', { isError: 'no' }))).toEqual([
      'result.content: expected an array, got "x"',
      'result.isError: expected a boolean, got "no"',
    ]);
    // A modern result says of what kind it is.
    const modern = { ...result([]), revision: '2026-07-28' };
    expect(await judgeMessage(modern)).toEqual([
      'result.resultType: expected "complete", "input_required" or "task", got nothing',
    ]);
  });

  it('is judged by its kind', async () => {
    const of = (kind: 'request' | 'error' | 'notification', method: string, message: object) =>
      judgeMessage({ kind, method, revision: '2025-11-25', message: { jsonrpc: '2.0', ...message } });
    expect(await of('error', 'tools/call', { id: 1, error: { code: '-32601', message: 'no' } })).toEqual([
      'error.code: expected an integer, got "-32601"',
    ]);
    expect(
      await of('notification', 'notifications/message', {
        method: 'notifications/message',
        params: { level: 'loud', data: 1 },
      }),
    ).toEqual(['params.level: expected a log level such as "info", got "loud"']);
    expect(await of('request', 'tools/list', { id: 1, method: 'tools/list' })).toEqual([
      'method: expected a request of a server of 2025-11-25, got "tools/list"',
    ]);
  });

  it('is not judged in a revision that has no schema here', async () => {
    expect(await judgeMessage({ ...result([]), revision: '2031-01-01' })).toBeUndefined();
  });
});
