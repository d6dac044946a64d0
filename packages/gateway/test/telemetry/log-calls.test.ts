import { expect, it } from 'vitest';
import { createLog, logCall } from '../../src/telemetry/log.js';
import { recordOf } from '../support/telemetry.js';

function lines(level: 'debug' | 'info', ...records: ReturnType<typeof recordOf>[]) {
  const written: string[] = [];
  const log = createLog({ level, format: 'json', destination: { write: (line) => void written.push(line) } });
  for (const record of records) logCall(log, record);
  return written.map((line) => {
    const { time: _, ...rest } = JSON.parse(line);
    return rest;
  });
}

it('says of a call what it was, who made it, and how it ended', () => {
  const record = recordOf({ principal: 'alice', client: 'claude', durationMs: 12.34567 });
  expect(lines('debug', record)).toEqual([
    {
      level: 'debug',
      server: 'weather',
      request: 7,
      method: 'tools/call',
      tool: 'forecast',
      caller: 'alice',
      client: 'claude',
      side: 'server',
      era: 'modern',
      revision: '2026-07-28',
      durationMs: 12.346,
      outcome: 'ok',
      msg: 'tools/call forecast was answered',
    },
  ]);
});

it('says which member of a cluster has handed a call on', () => {
  expect(lines('debug', recordOf({ handedOnBy: '7f3kq2ma' }))).toEqual([
    expect.objectContaining({ handedOnBy: '7f3kq2ma', tool: 'forecast' }),
  ]);
});

it.each([
  ['debug', 'tools/call forecast was answered: the tool failed', { outcome: 'tool_error' }],
  ['debug', 'tools/call forecast was answered with questions', { outcome: 'input_required' }],
  ['debug', 'tools/list was cancelled', { method: 'tools/list', tool: undefined, outcome: 'cancelled' }],
  [
    'info',
    'tools/call forecast failed: no such tool',
    { outcome: 'error', code: -32602, message: 'no such tool' },
  ],
  ['warn', 'tools/call forecast failed: it ended', { outcome: 'error', code: -32603, message: 'it ended' }],
] as const)('is %s: %s', (level, msg, more) => {
  expect(lines('debug', recordOf(more))).toEqual([expect.objectContaining({ level, msg })]);
});

it('says nothing of calls that went well, unless somebody looks for something', () => {
  expect(lines('info', recordOf(), recordOf({ outcome: 'tool_error' }))).toEqual([]);
});
