import { ProtocolError, type Server } from '@isthmus/sdk';
import { describe, expect, it } from 'vitest';
import { until } from '../../../../test/support/until.js';
import { connectTo } from '../../../sdk/test/support/server.js';
import { gate, idOf, taskServer, WITH_TASKS, waitFor } from '../../../sdk/test/support/tasks.js';
import { auditCalls } from '../../src/audit/audit-calls.js';
import type { AuditRecord } from '../../src/audit/audit-record.js';
import { limitService } from '../../src/limits/limit-service.js';

type Era = 'legacy' | 'modern';

/** A client before a server with audit and limits, and what was written of its calls of tools. */
async function audited(era: Era, tool: (server: Server) => void) {
  const server = taskServer();
  tool(server);
  const records: AuditRecord[] = [];
  const write = (record: AuditRecord) => {
    records.push(record);
    return '';
  };
  const audit = { isActive: () => true, write, refuse: write, argumentsOf: () => '{"a":1}' };
  const limited = limitService(server, { server: 'x', limits: { maxConcurrent: 1 } });
  const service = auditCalls(limited, { server: 'x', audit });
  const peer = await connectTo(
    service as unknown as Server,
    era,
    era === 'modern' ? { capabilities: WITH_TASKS } : {},
  );
  const start = async () =>
    idOf(await peer.result('tools/call', { name: 'slow', ...(era === 'legacy' && { task: {} }) }));
  /** The lines about the tool, when there are two. */
  const lines = async () => {
    const ofTool = () => records.filter(({ method }) => method === 'tools/call');
    await until('two lines', () => ofTool().length >= 2);
    const [call, end, ...more] = ofTool() as [AuditRecord, AuditRecord];
    expect(more).toEqual([]);
    expect(end.correlationId).toBe(call.correlationId);
    expect(end.durationMs).toBeGreaterThanOrEqual(call.durationMs!);
    return [call, end].map((each) => [each.tool, each.outcome, each.error, each.arguments]);
  };
  return { peer, start, lines, records };
}

const CALL = ['slow', 'task', undefined, '{"a":1}'];

describe.each(['legacy', 'modern'] as const)('a task of a %s client in the audit log (TASK-L-094)', (era) => {
  it('has a line when its call is answered, and another when it is completed', async () => {
    const { opened, open } = gate();
    const all = await audited(era, (server) =>
      server.tool('slow', { task: 'allowed' }, () => opened.then(() => 'x')),
    );
    await using peer = all.peer;
    const taskId = await all.start();
    expect(all.records.map(({ outcome }) => outcome)).toEqual(['task']);
    open();
    await waitFor(peer, taskId, 'completed');
    expect(await all.lines()).toEqual([CALL, ['slow', 'completed', undefined, undefined]]);
    expect(JSON.stringify(all.records)).not.toContain(taskId);
  });

  it('has a line when it fails, with the code of the error', async () => {
    const all = await audited(era, (server) =>
      server.tool('slow', { task: 'allowed' }, () => {
        throw new ProtocolError(-32602, 'no luck');
      }),
    );
    await using peer = all.peer;
    await waitFor(peer, await all.start(), 'failed');
    expect(await all.lines()).toEqual([CALL, ['slow', 'failed', '-32602', undefined]]);
  });

  it('has a line when it is cancelled', async () => {
    const { opened, open } = gate();
    const all = await audited(era, (server) =>
      server.tool('slow', { task: 'allowed' }, (_args, { signal }) => {
        signal.addEventListener('abort', open);
        return opened.then(() => {
          throw new Error('aborted');
        });
      }),
    );
    await using peer = all.peer;
    const taskId = await all.start();
    await peer.result('tasks/cancel', { taskId });
    await waitFor(peer, taskId, 'cancelled');
    expect(await all.lines()).toEqual([CALL, ['slow', 'cancelled', undefined, undefined]]);
  });

  it('says that the tool reported an error', async () => {
    const all = await audited(era, (server) =>
      server.tool('slow', { task: 'allowed' }, () => ({ content: [], isError: true })),
    );
    await using peer = all.peer;
    await waitFor(peer, await all.start(), 'completed', 'failed');
    expect(await all.lines()).toEqual([CALL, ['slow', 'completed', 'tool_error', undefined]]);
  });
});
