import { expect, it } from 'vitest';
import { checkServer, type Finding, serverTarget } from '../../../../src/index.js';
import { expectCaught, IN_A_HURRY } from '../../../support/suites/expect-caught.js';
import { createTaskServer, tasksAt, USERS } from '../../../support/suites/task-server.js';
import { moreTaskMutants } from '../../mutants/tasks-more.js';

expectCaught('the rules of tasks', moreTaskMutants);

it('the checks of tasks hold for our own tasks, at a URL with users', async () => {
  const { target, close } = await tasksAt({ users: true })();
  try {
    const { findings } = await checkServer(target, { ...IN_A_HURRY, tokens: USERS, only: ['tasks/*'] });
    expect(not('pass', findings)).toEqual([
      'skip tasks/ignored', // It runs tasks.
      'skip tasks/undeclared-methods', // It declares all of them.
      'skip tasks/no-list-for-strangers', // There are none.
    ]);
  } finally {
    await close();
  }
});

it('the checks of tasks hold for our own tasks, on streams', async () => {
  const target = serverTarget(createTaskServer());
  const { findings } = await checkServer(target, { ...IN_A_HURRY, only: ['tasks/*'] });
  expect(not('pass', findings)).toEqual([
    'skip tasks/ignored',
    ...['get-not-streamed', 'listed', 'list-cursor', 'no-list-for-strangers', 'users-apart'].map(
      (id) => `skip tasks/${id}`,
    ),
    'skip tasks/extension-name-header',
    'skip tasks/extension-users-apart',
  ]);
});

function not(outcome: Finding['outcome'], findings: readonly Finding[]): string[] {
  return findings.filter((each) => each.outcome !== outcome).map((each) => `${each.outcome} ${each.id}`);
}
