import type { TaskState } from '@isthmus/sdk/internal/client/tasks/read-task.js';
import type { TaskHandle } from '@isthmus/sdk/internal/client/tasks/task-handle.js';
import type { Command } from 'commander';
import { chooseTarget, type GivenOptions } from '../../choose-target.js';
import { EXIT, usageError } from '../../cli-error.js';
import { clientCommand } from '../../common-options.js';
import { type CliSession, withSession } from '../../session/session.js';
import type { CommandTarget } from '../../target.js';
import { processTerminal, type Terminal, writeJson } from '../../terminal/terminal.js';
import { oneLine } from '../../terminal/text.js';
import { type CallCommandOptions, showResult, withRequestOptions } from '../call.js';

export function taskCommand(afterDashes: readonly string[] | undefined): Command {
  const command = clientCommand('task', ' get|wait|cancel ID', {
    description: 'Look at a task of a server, wait for its result, or cancel it.',
    failed: 'the task has failed, was cancelled, or its tool reported an error',
    timeout:
      'limit for connecting, for each answer, and for the end of the task (default: no limit for its end)',
    help: [HELP],
    examples: [
      'isthmus call http://127.0.0.1:8080/mcp slow_compute seconds=30 --task',
      'isthmus task http://127.0.0.1:8080/mcp wait ID',
      'isthmus task unix:/tmp/demo.sock get ID --json',
    ],
  });
  return withRequestOptions(command).action(
    async (args: string[], given: GivenOptions<CallCommandOptions>) => {
      const { target, rest, options } = await chooseTarget('task', args, afterDashes, given);
      const [action, id, ...surplus] = rest;
      if (!isAction(action)) {
        throw usageError(action === undefined ? 'No action given' : `"${action}" is not an action`, FORM);
      }
      if (id === undefined) throw usageError('No id of a task given', FORM);
      if (surplus.length > 0) throw usageError(`Too many arguments: "${surplus[0]}"`, FORM);
      refuseCommand(target);
      const terminal = processTerminal();
      process.exitCode = await withSession(target, { ...options, cache: true }, terminal, (session) =>
        ACTIONS[action](session.client.task(id), session, terminal, options),
      );
    },
  );
}

const FORM = 'Write isthmus task TARGET get|wait|cancel ID';
const HELP = `
call --task starts a task and prints its id. A task belongs to the login that started it. Questions of a task appear on
the terminal of wait, as for call.`;

type Action = 'get' | 'wait' | 'cancel';

function isAction(word: string | undefined): word is Action {
  return word !== undefined && Object.hasOwn(ACTIONS, word);
}

const ACTIONS: Readonly<
  Record<
    Action,
    (
      task: TaskHandle,
      session: CliSession,
      terminal: Terminal,
      options: CallCommandOptions,
    ) => Promise<number>
  >
> = {
  async get(task, session, terminal, options) {
    const state = await session.request('The task', (callOptions) => task.get(callOptions));
    if (options.json) writeJson(terminal, state);
    else terminal.stdout.write(describeTask(state));
    return state.status === 'failed' || state.status === 'cancelled' ? EXIT.failed : EXIT.ok;
  },
  async wait(task, { interrupted }, terminal, options) {
    const showsProgress = options.progress || terminal.readsErrors;
    const result = await task.result({
      signal: interrupted,
      timeoutMs: options.timeout,
      onProgress: showsProgress
        ? ({ message }) => terminal.stderr.write(`isthmus: ${oneLine(message ?? '')}\n`)
        : undefined,
    });
    return showResult('the task', result, terminal, options.json === true);
  },
  async cancel(task, session, terminal, options) {
    await session.request('The cancellation', (callOptions) => task.cancel(callOptions));
    const state = await session.request('The task', (callOptions) => task.get(callOptions));
    if (options.json) writeJson(terminal, state);
    else terminal.stdout.write(describeTask(state));
    return EXIT.ok;
  },
};

/** A server that the command starts ends with it, and its tasks too. */
export function refuseCommand(target: CommandTarget): void {
  if (target.kind !== 'command') return;
  throw usageError(
    'A server that is started by this command ends with it, and so do its tasks',
    'Serve it with isthmus serve, and give the address',
  );
}

export function describeTask({ id, status, statusMessage, error }: TaskState): string {
  const why = error?.message ?? statusMessage;
  return `${oneLine(id)} ${status}${why === undefined ? '' : `: ${oneLine(why)}`}\n`;
}
