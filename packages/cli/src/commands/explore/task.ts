import { isOver, type TaskState } from '@isthmus/sdk/internal/client/tasks/read-task.js';
import type { TaskHandle } from '@isthmus/sdk/internal/client/tasks/task-handle.js';
import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import type { Command } from 'commander';
import { chooseTarget, type GivenOptions } from '../../choose-target.js';
import { CliError, EXIT, usageError } from '../../cli-error.js';
import { clientCommand } from '../../common-options.js';
import { type CliSession, withSession } from '../../session/session.js';
import type { CommandTarget } from '../../target.js';
import { processTerminal, type Terminal, writeJson } from '../../terminal/terminal.js';
import { oneLine } from '../../terminal/text.js';
import { type CallCommandOptions, showResult, withRequestOptions } from '../call.js';

export function taskCommand(afterDashes: readonly string[] | undefined): Command {
  const command = clientCommand('task', ' get|wait|cancel ID', {
    description: 'Look at a task of a server, wait for its result, or cancel it.',
    needsAddress: true,
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
      const interruptedNote = 'Interrupted; the task goes on';
      process.exitCode = await withSession(
        target,
        { ...options, cache: true, interruptedNote },
        terminal,
        (session) =>
          explained(id, session, () => ACTIONS[action](session.client.task(id), session, terminal, options)),
      );
    },
  );
}

const FORM = 'Write isthmus task TARGET get|wait|cancel ID';
const HELP = `
call --task starts a task and prints its id. A task belongs to the login that started it. Questions of a task appear on
the terminal of wait, as for call. Ctrl-C ends the wait, and the task goes on. A server that stops forgets its tasks,
unless it has a store (serve --task-store).`;

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
    showState(state, session, terminal, options);
    return hasFailed(state) ? EXIT.failed : EXIT.ok;
  },
  async wait(task, session, terminal, options) {
    const showsProgress = options.progress || terminal.readsErrors;
    try {
      const result = await task.result({
        signal: session.interrupted,
        timeoutMs: options.timeout,
        onProgress: showsProgress
          ? ({ message }) => terminal.stderr.write(`isthmus: ${oneLine(message ?? '')}\n`)
          : undefined,
      });
      return showResult('the task', result, terminal, options.json === true);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      // The error of the task, or of the request about it.
      const state = await session.request('The task', (callOptions) => task.get(callOptions));
      if (!isOver(state)) throw error;
      if (options.json) writeJson(terminal, state);
      else terminal.stderr.write(`${terminal.err.red('isthmus: the task')} ${describeEnd(state, error)}\n`);
      return EXIT.failed;
    }
  },
  async cancel(task, session, terminal, options) {
    await session.request('The cancellation', (callOptions) => task.cancel(callOptions));
    const state = await session.request('The task', (callOptions) => task.get(callOptions));
    showState(state, session, terminal, options);
    return EXIT.ok;
  },
};

function showState(
  state: TaskState,
  session: CliSession,
  terminal: Terminal,
  { json }: CallCommandOptions,
): void {
  if (json) return writeJson(terminal, state);
  terminal.stdout.write(describeTask(state));
  if (state.status === 'input_required') {
    terminal.stderr.write(
      `hint: isthmus task ${session.connector.label} wait ${oneLine(state.id)} asks its questions here\n`,
    );
  }
}

/** A modern task is completed also if the tool reported an error (TASK-M-030). */
function hasFailed({ status, result }: TaskState): boolean {
  return status === 'failed' || status === 'cancelled' || result?.isError === true;
}

function describeEnd({ status, statusMessage }: TaskState, { message, code }: ProtocolError): string {
  return status === 'cancelled'
    ? 'was cancelled'
    : `failed: ${oneLine(message || (statusMessage ?? ''))} (${code})`;
}

/** Unknown tasks are frequent, and the reason is not visible: ids end, and belong to a login. */
async function explained(
  id: string,
  { connector }: CliSession,
  work: () => Promise<number>,
): Promise<number> {
  try {
    return await work();
  } catch (error) {
    const isUnknown = error instanceof ProtocolError && error.code === ErrorCode.InvalidParams;
    if (!isUnknown) throw error;
    throw new CliError(
      EXIT.protocol,
      `${connector.label} does not know the task ${oneLine(id)}: ${oneLine(error.message)}`,
      {
        hint:
          'Only the login that started a task can see it. A server forgets a task some time after its end, and all of ' +
          'them when it stops, unless it has a store: isthmus serve --task-store',
      },
    );
  }
}

/** A server that the command starts ends with it, and its tasks too. */
export function refuseCommand(target: CommandTarget): void {
  if (target.kind !== 'command') return;
  throw usageError(
    'A server that is started by this command ends with it, and so do its tasks',
    'Serve it in another terminal with isthmus serve -- COMMAND ARGS…, and give the address that serve prints',
  );
}

export function describeTask({ id, status, statusMessage, error, result }: TaskState): string {
  const why = error?.message ?? (result?.isError === true ? 'the tool reported an error' : statusMessage);
  return `${oneLine(id)} ${status}${why === undefined ? '' : `: ${oneLine(why)}`}\n`;
}
