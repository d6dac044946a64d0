import { describe, expect, it } from 'vitest';
import { judgeNotification, judgeResult } from '../../src/shapes/index.js';
import { said, saidOf } from '../support/shapes/said.js';

const RELATED = 'io.modelcontextprotocol/related-task';
const task = {
  taskId: 't1',
  status: 'working',
  createdAt: '2025-11-25T10:30:00Z',
  lastUpdatedAt: '2025-11-25T10:40:00Z',
  ttl: null,
};

describe('tasks of 2025-11-25', () => {
  it('stand in for the result of a call (TASK-005, TASK-007)', () => {
    expect(saidOf('tools/call', { task }, '2025-11-25')).toEqual([]);
    expect(saidOf('tools/call', { task: {} }, '2025-11-25')).toEqual([
      'result.task.taskId: expected a string, got nothing',
      'result.task.status: expected "working", "input_required", "completed", "failed" or "cancelled", got nothing',
      'result.task.createdAt: expected a date or time of ISO 8601, got nothing',
      'result.task.lastUpdatedAt: expected a date or time of ISO 8601, got nothing',
      'result.task.ttl: expected an integer or null, got nothing',
    ]);
  });

  it('are shown, listed and announced', () => {
    expect(saidOf('tasks/get', task, '2025-11-25')).toEqual([]);
    expect(saidOf('tasks/cancel', { ...task, ttl: 60000, pollInterval: 'soon' }, '2025-11-25')).toEqual([
      'result.pollInterval: expected an integer, got "soon"',
    ]);
    expect(saidOf('tasks/list', { tasks: [task, { ...task, statusMessage: 1 }] }, '2025-11-25')).toEqual([
      'result.tasks[1].statusMessage: expected a string, got 1',
    ]);
    expect(
      said(judgeNotification('notifications/tasks/status', { ...task, taskId: 1 }, '2025-11-25')),
    ).toEqual(['params.taskId: expected a string, got 1']);
  });

  it('name themselves in their result (TASK-010)', () => {
    expect(
      saidOf('tasks/result', { content: [], _meta: { [RELATED]: { taskId: 't1' } } }, '2025-11-25'),
    ).toEqual([]);
    expect(saidOf('tasks/result', { content: [] }, '2025-11-25')).toEqual([
      'result._meta: expected an object, got nothing',
    ]);
  });
});

describe('tasks as an extension of 2026-07-28 (TASK-019)', () => {
  const { ttl, ...rest } = task;
  const modern = { ...rest, ttlMs: 60000 };

  it('stand in for the result of a call', () => {
    expect(said(judgeResult('tools/call', { resultType: 'task', ...modern }, '2026-07-28'))).toEqual([]);
    expect(said(judgeResult('tools/call', { resultType: 'task', ...rest }, '2026-07-28'))).toEqual([
      'result.ttlMs: expected an integer or null, got nothing',
    ]);
    expect(said(judgeResult('prompts/get', { resultType: 'task', messages: [] }, '2026-07-28'))).toEqual([
      'result.resultType: expected "complete" or "input_required", got "task"',
    ]);
  });

  it.each([
    ['completed', 'result: expected an object, got nothing'],
    ['failed', 'error: expected an object, got nothing'],
    ['input_required', 'inputRequests: expected an object, got nothing'],
  ])('carry what belongs to the status %s', (status, complaint) => {
    expect(saidOf('tasks/get', { ...modern, status })).toEqual([`result.${complaint}`]);
  });
});
