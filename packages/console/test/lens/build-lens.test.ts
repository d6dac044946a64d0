import { describe, expect, it } from 'vitest';
import type { ConnectionView } from '../../src/contract.js';
import { buildLens, type LensSource } from '../../src/lens/build-lens.js';

const base: ConnectionView = {
  ...{ id: 1, side: 'client', label: 'page', transport: 'memory', lens: false, began: 0 },
  ...{ state: 'open', era: 'legacy', revision: '2025-11-25', frames: [1, 20], warnings: [] },
};
const client = base;
const upstream: ConnectionView = { ...base, id: 2, side: 'upstream', era: 'modern', revision: '2026-07-28' };

type Given = readonly [
  where: ConnectionView,
  id: number,
  method: string,
  kind: 'request' | 'result',
  body: object,
];

/** Frames of one call. Requests go to the server, but for questions; answers the other way. */
function framesOf(given: readonly Given[]): LensSource[] {
  return given.map(([connection, id, method, kind, body], at) => ({
    ...{ seq: at + 1, at: at * 10, connection, id, method, kind },
    direction: (kind === 'request') === (method !== 'elicitation/create') ? 'to-server' : 'to-client',
    message: kind === 'request' ? { method, params: body } : { result: body },
  }));
}

const asks = { taskId: 't', status: 'input_required', inputRequests: { q: {} } };

describe('the lens on a call that a server carries out as a task', () => {
  const lens = buildLens(
    7,
    framesOf([
      [client, 1, 'tools/call', 'request', { name: 'deploy' }],
      [upstream, 5, 'tools/call', 'request', { name: 'deploy' }],
      [upstream, 5, 'tools/call', 'result', { resultType: 'task', taskId: 't', status: 'working' }],
      [upstream, 6, 'tasks/get', 'request', { taskId: 't' }],
      [upstream, 6, 'tasks/get', 'result', { ...asks, lastUpdatedAt: '2026-11-19T10:00:00Z' }],
      [client, 0, 'elicitation/create', 'request', { message: 'Go on?' }],
      [upstream, 7, 'tasks/get', 'request', { taskId: 't' }],
      [upstream, 7, 'tasks/get', 'result', { ...asks, lastUpdatedAt: '2026-11-19T10:00:01Z' }],
      [client, 0, 'elicitation/create', 'result', { action: 'accept' }],
      [upstream, 8, 'tasks/update', 'request', { taskId: 't', inputResponses: { q: {} } }],
      [upstream, 8, 'tasks/update', 'result', { resultType: 'complete' }],
      [upstream, 9, 'tasks/get', 'request', { taskId: 't' }],
      [upstream, 9, 'tasks/get', 'result', { taskId: 't', status: 'completed', result: { content: [] } }],
      [client, 1, 'tools/call', 'result', { content: [] }],
    ]),
  );

  it('leads from what the task says to what the client gets, by the row of tasks', () => {
    expect(lens.links.map(({ from, to, row }) => [from, to, row])).toEqual([
      [1, 2, 1],
      [5, 6, 21],
      [9, 10, 21],
      [13, 14, 21],
    ]);
    expect(lens.notes.find(({ row }) => row === 21)?.say).toBe(
      'The server carries the call out as a task. The bridge asks for its state, hands on its questions, and answers with its result.',
    );
  });

  it('leaves out answers that say nothing new, with their requests, and says how many', () => {
    expect(lens.frames.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 14]);
    expect(lens.leftOut).toBe(2);
  });
});

describe('the answers of a person in the lens', () => {
  const began = 1_000_000;
  const frames = framesOf([
    [client, 1, 'tools/call', 'request', { name: 'ask' }],
    [upstream, 5, 'tools/call', 'request', { name: 'ask' }],
    [upstream, 5, 'tools/call', 'result', { resultType: 'input_required', inputRequests: { q: {} } }],
    [client, 0, 'elicitation/create', 'request', { message: 'Go on?' }],
    [client, 0, 'elicitation/create', 'result', { action: 'accept' }],
    [upstream, 6, 'tools/call', 'request', { name: 'ask', inputResponses: { q: {} } }],
  ]);
  const question = {
    ...{ id: 1, call: 7, asker: 'a server', params: {}, since: began + 31 },
    kind: 'form' as const,
  };

  it('stand between the question and the frame that carries them, whatever the clocks say', () => {
    const over = { at: began + 45, why: 'answered' } as const;
    const { answers } = buildLens(7, frames, {
      questions: [{ ...question, over, answer: '{"action":"accept"}' }],
      began,
    });
    expect(answers).toEqual([{ at: 40, waitedMs: 14, answer: '{"action":"accept"}' }]);
  });

  it('are absent for a question that is open, and have no answer for one that was taken back', () => {
    const over = { at: began + 35, why: 'withdrawn' } as const;
    const { answers } = buildLens(7, frames, { questions: [question, { ...question, over }], began });
    expect(answers).toEqual([{ at: 35, waitedMs: 4 }]);
  });
});
