import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { EVERY_CAPABILITY } from '../../conversation/envelope.js';
import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import { complaintText, judgeResult } from '../../shapes/index.js';
import { inWords, several } from './answers.js';

const EXTENSION = 'io.modelcontextprotocol/tasks';

/** Tasks, as the extension to the modern era has them. */
export const taskExtensionChecks: readonly Check[] = [
  {
    id: 'tasks/extension-needed',
    suite: 'protocol',
    title: 'Serves tasks only to requests that declare the extension',
    level: 'MUST',
    rules: ['TASK-017'],
    era: 'modern',
    hint: `Answer tasks/get with -32021, and name extensions["${EXTENSION}"] in requiredCapabilities.`,
    async run(table) {
      needExtension(table);
      const talk = await table.talk();
      const reply = await talk.request('tasks/get', { taskId: 'isthmus-check-no-such-task' });
      const data = reply.kind === 'error' && isJsonObject(reply.error.data) ? reply.error.data : {};
      const needed = isJsonObject(data['requiredCapabilities']) ? data['requiredCapabilities'] : {};
      const extensions = isJsonObject(needed['extensions']) ? needed['extensions'] : {};
      const seen = `tasks/get without the extension was answered with ${inWords(reply)}`;
      if (reply.kind !== 'error' || reply.error.code !== -32021) table.fail(seen, 'error -32021');
      if (extensions[EXTENSION] === undefined)
        table.fail(
          `${seen}, and data that do not name it`,
          `requiredCapabilities.extensions["${EXTENSION}"]`,
        );
      return seen;
    },
  },
  {
    id: 'tasks/extension-ready',
    suite: 'protocol',
    title: 'Knows a task as soon as it has answered with one, and tells its whole state',
    level: 'MUST',
    rules: ['TASK-018', 'TASK-019'],
    era: 'modern',
    lane: 'own',
    hint: 'Store the task before you answer; tasks/get has resultType "complete", and what belongs to the status.',
    async run(table) {
      needExtension(table);
      table.needTool();
      const talk = await table.openTalk();
      const capabilities = { ...EVERY_CAPABILITY, extensions: { [EXTENSION]: {} } };
      for (const { name, args } of table.facts.callable.slice(0, MOST_TOOLS)) {
        const created = await talk.request('tools/call', { name, arguments: args }, { capabilities });
        if (created.kind !== 'result' || created.result['resultType'] !== 'task') continue;
        const { taskId } = created.result;
        const state = await talk.request('tasks/get', { taskId }, { capabilities });
        const result = table.needResult(state, `tasks/get of a new task of ${name}`);
        const complaints = judgeResult('tasks/get', result, '2026-07-28');
        if (complaints.length > 0)
          table.fail(`tasks/get: ${several(complaints.map(complaintText))}`, 'the state of a task');
        await talk.request('tasks/cancel', { taskId }, { capabilities });
        return `${name} made a task, which was known at once`;
      }
      return table.skip('no tool that was called became a task');
    },
  },
];

const MOST_TOOLS = 20;

function needExtension(table: CheckContext): void {
  const { extensions } = table.facts.capabilities;
  if (!isJsonObject(extensions) || extensions[EXTENSION] === undefined)
    table.skip(`the server does not announce ${EXTENSION}`);
}
