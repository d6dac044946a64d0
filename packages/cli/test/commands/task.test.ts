import { describe, expect, it } from 'vitest';
import { ISTHMUS, startChild } from '../../../../test/support/child.js';
import { demo, freeFolder, isthmus } from '../support/isthmus.js';

describe('isthmus call --task and isthmus task', () => {
  it.each(['modern', 'legacy'])(
    'start a task of a %s server, show it, wait for it and cancel it',
    async (era) => {
      const socket = `unix:${freeFolder()}/s`;
      const server = startChild(ISTHMUS, { args: ['demo', '--listen', socket, '--era', era] });
      await server.until('address', () => server.stderr.includes('Ctrl-C stops it'));
      const start = async (...args: string[]) => {
        const { code, stdout } = await isthmus('call', socket, ...args, '--task');
        expect([code, stdout]).toEqual([0, expect.stringMatching(/^\w{32}\n$/)]);
        return stdout.trim();
      };

      const computing = await start('slow_compute', 'seconds=0.3', 'label=x');
      const waited = await isthmus('task', socket, 'wait', computing);
      expect([waited.code, waited.stdout]).toEqual([0, 'Computed x in 0.3 s\n']);
      const { code, stdout } = await isthmus('task', socket, 'get', computing, '--json');
      expect([code, JSON.parse(stdout)]).toMatchObject([
        0,
        { id: computing, status: 'completed', pollIntervalMs: 500 },
      ]);

      const endless = await start('slow_compute', 'seconds=600');
      expect((await isthmus('task', socket, 'cancel', endless)).code).toBe(0);
      const cancelled = await isthmus('task', socket, 'wait', endless);
      expect([cancelled.code, cancelled.stderr]).toEqual([1, 'isthmus: the task was cancelled\n']);
      const shown = await isthmus('task', socket, 'get', endless);
      expect([shown.code, shown.stdout]).toEqual([1, expect.stringContaining(`${endless} cancelled`)]);

      const broken = await start('protocol_error_job');
      const failed = await isthmus('task', socket, 'wait', broken);
      expect([failed.code, failed.stderr]).toEqual([
        1,
        'isthmus: the task failed: This job ends with a protocol error (-32603)\n',
      ]);
      const reported = await start('failing_job');
      expect((await isthmus('task', socket, 'wait', reported)).code).toBe(1);
      const state = await isthmus('task', socket, 'get', reported);
      expect([state.code, state.stdout]).toEqual([
        1,
        era === 'modern'
          ? `${reported} completed: the tool reported an error\n`
          : `${reported} failed: This job always fails\n`,
      ]);

      for (const action of ['get', 'wait', 'cancel']) {
        const unknown = await isthmus('task', socket, action, 'nonsense');
        expect([unknown.code, unknown.stderr]).toEqual([
          4,
          `isthmus: ${socket} does not know the task nonsense: Unknown task\n` +
            'hint: Only the login that started a task can see it. A server forgets a task some time after its end, and ' +
            'all of them when it stops, unless it has a store: isthmus serve --task-store\n',
        ]);
      }

      const asking = await start('confirm_delete', 'filename=a');
      const answered = await isthmus('task', socket, 'wait', asking, '--answer', 'confirm=true');
      expect([answered.code, answered.stdout]).toEqual([0, 'Deleted a\n']);

      const failing = await isthmus('call', socket, 'failing_job');
      expect([failing.code, failing.stderr]).toEqual([1, expect.stringContaining('This job always fails')]);
    },
  );

  it('say what is missing', async () => {
    const tasks = await isthmus('call', 'slow_compute', '--task', ...demo());
    expect([tasks.code, tasks.stderr]).toEqual([
      2,
      expect.stringContaining('A server that is started by this command ends with it, and so do its tasks'),
    ]);
    const { stdout: help } = await isthmus('task', '--help');
    expect(help).not.toMatch(/-- COMMAND|--cwd|--env|--stderr/);
    const action = await isthmus('task', 'unix:/tmp/none', 'look', 'x');
    expect([action.code, action.stderr]).toEqual([2, expect.stringContaining('"look" is not an action')]);
    const id = await isthmus('task', 'unix:/tmp/none', 'get');
    expect([id.code, id.stderr]).toEqual([2, expect.stringContaining('No id of a task given')]);
  });
});
