import type { TaskHandle } from '@isthmus/sdk/internal/client/tasks/task-handle.js';
import { LOGGING_LEVELS } from '@isthmus/sdk/internal/era/reports.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CallToolResult, LoggingLevel, Tool } from '@isthmus/sdk/internal/wire/model.js';
import { type Command, Option } from 'commander';
import {
  type Assignment,
  fromJson,
  readArguments,
  toAssignment,
  unknownArguments,
} from '../arguments/read-arguments.js';
import { suggest } from '../arguments/suggest.js';
import { chooseTarget, type GivenOptions } from '../choose-target.js';
import { EXIT, usageError } from '../cli-error.js';
import { type CommonOptions, clientCommand, collect } from '../common-options.js';
import { type CliSession, withSession } from '../session/session.js';
import { type CommandTarget, commandLine } from '../target.js';
import { renderToolResult } from '../terminal/render-content.js';
import { processTerminal, type Terminal, writeJson } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';

export interface CallCommandOptions extends CommonOptions {
  readonly progress?: boolean;
  readonly answer?: readonly string[];
  readonly root?: readonly string[];
  readonly roots: boolean;
  readonly logLevel?: LoggingLevel;
  /** Of `call` only: starts a task, and does not wait for its end. */
  readonly task?: boolean;
}

/** The options of commands whose request may take long and may be answered with a question. */
export function withRequestOptions(command: Command): Command {
  return command
    .option('--progress', 'write progress as plain lines when stderr is not a terminal')
    .option('--answer <key=value>', 'the answer to a field that the server asks for; repeatable', collect)
    .option(
      '--root <folder>',
      'a folder to send when the server asks for roots; repeatable (default: the current one)',
      collect,
    )
    .option('--no-roots', 'do not offer roots to the server')
    .addOption(
      new Option('--log-level <level>', 'show logs of the server from this level on, on stderr').choices(
        LOGGING_LEVELS,
      ),
    );
}

export function callCommand(afterDashes: readonly string[] | undefined): Command {
  const command = clientCommand('call', ' TOOL [key=value …]', {
    description: 'Call a tool and print its result.',
    failed: 'the tool ran and reported an error (isError)',
    help: [HELP],
    examples: [
      'isthmus call unix:/tmp/demo.sock echo text=hi',
      'isthmus call add a=2 b=3 -- isthmus demo',
      'isthmus call --config .mcp.json weather get_forecast city=Oslo',
      `isthmus call tcp://127.0.0.1:4000 add --args '{"a": 2, "b": 3}' --json`,
      'isthmus call test_elicitation --answer username=ada -- isthmus demo',
    ],
  })
    .option('--args <json>', 'all arguments at once, as a JSON object')
    .option('--task', 'start a task, print its id, and do not wait for its end (see isthmus task)');
  return withRequestOptions(command).action(
    async (args: string[], given: GivenOptions<CallCommandOptions & { args?: string }>) => {
      const { target, rest, options } = await chooseTarget('call', args, afterDashes, given);
      const request = toRequest(target, rest, options.args);
      if (options.task) (await import('./explore/task.js')).refuseCommand(target);
      const terminal = processTerminal();
      process.exitCode = await withSession(target, { ...options, cache: true }, terminal, (session) =>
        call(request, session, terminal, options),
      );
    },
  );
}

const HELP = `
The schema of the tool decides how a value is read: as a number, as true or false, as JSON for objects and lists. A
list also takes one item; repeat the key for more. key:=JSON is always JSON. Questions of the server appear on the
terminal; without a terminal the answer is cancel, unless --answer was given.`;

interface ToolRequest {
  readonly target: CommandTarget;
  readonly tool: string;
  /** An object, or assignments to be read by the schema of the tool. */
  readonly args: JsonObject | readonly Assignment[];
}

function toRequest(target: CommandTarget, rest: readonly string[], json: string | undefined): ToolRequest {
  const [tool, ...assignments] = rest;
  if (tool === undefined || /^[^=]+:?=/.test(tool)) {
    throw usageError(
      tool === undefined ? 'No tool given' : `"${tool}" is not the name of a tool`,
      `${commandLine('list', target)} shows the tools`,
    );
  }
  if (json === undefined) return { target, tool, args: assignments.map(toAssignment) };
  if (assignments.length > 0) {
    throw usageError(`Give arguments with --args or as key=value, not both: "${assignments[0]}"`);
  }
  return { target, tool, args: fromJson(json) };
}

async function call(
  { target, tool, args }: ToolRequest,
  session: CliSession,
  terminal: Terminal,
  options: CallCommandOptions,
): Promise<number> {
  const { client } = session;
  await setLogLevel(session, options.logLevel);
  const schema = isAssignments(args) ? await findTool(session, target, tool) : undefined;
  const values = isAssignments(args) ? readArguments(args, schema) : args;
  for (const warning of schema ? unknownArguments(values, schema) : [])
    terminal.stderr.write(`${terminal.err.yellow('isthmus: warning:')} ${warning}\n`);
  const what = `The call of ${tool}`;
  if (options.task) {
    const task = await session.request(what, (callOptions) => client.startTask(tool, values, callOptions));
    return started(tool, task, session, terminal, options);
  }
  const result = await session.request(what, (callOptions) => client.callTool(tool, values, callOptions));
  return showResult(tool, result, terminal, options.json === true);
}

/** Prints the id of a task, or the result if the server has answered at once. */
async function started(
  tool: string,
  task: TaskHandle,
  session: CliSession,
  terminal: Terminal,
  options: CallCommandOptions,
): Promise<number> {
  if (task.id === undefined) {
    terminal.stderr.write('isthmus: the server answered at once, without a task\n');
    return showResult(tool, await task.result(), terminal, options.json === true);
  }
  if (options.json) {
    writeJson(terminal, await session.request('The task', (callOptions) => task.get(callOptions)));
  } else terminal.stdout.write(`${oneLine(task.id)}\n`);
  if (terminal.readsErrors) {
    const { label } = session.connector;
    terminal.stderr.write(
      `hint: isthmus task ${label} wait ${oneLine(task.id)} prints its result; also get, cancel\n`,
    );
  }
  return EXIT.ok;
}

/** Prints the result of a tool, and returns the exit code. */
export function showResult(
  name: string,
  result: CallToolResult,
  terminal: Terminal,
  isJson: boolean,
): number {
  if (isJson) {
    writeJson(terminal, result);
  } else {
    const text = renderToolResult(result, terminal);
    if (!result.isError) terminal.stdout.write(text);
    else terminal.stderr.write(`${terminal.err.red(`isthmus: ${oneLine(name)} failed:`)} ${text}`);
  }
  return result.isError ? EXIT.failed : EXIT.ok;
}

/** A legacy server gets the level once. A modern one gets it with every request. */
export async function setLogLevel({ client }: CliSession, level: LoggingLevel | undefined): Promise<void> {
  if (level !== undefined && client.server.capabilities.logging) await client.setLogLevel(level);
}

function isAssignments(args: ToolRequest['args']): args is readonly Assignment[] {
  return Array.isArray(args);
}

/** Undefined where the server cannot list its tools. */
async function findTool(session: CliSession, target: CommandTarget, name: string): Promise<Tool | undefined> {
  const { client } = session;
  if (!client.server.capabilities.tools) return undefined;
  const tools = await session.request('The list of tools', (options) => client.listTools(options));
  const tool = tools.find((each) => each.name === name);
  if (tool) return tool;
  const meant = suggest(
    name,
    tools.map((each) => oneLine(each.name)),
  );
  throw usageError(
    `${oneLine(client.server.info?.name ?? session.connector.label)} has no tool "${name}"`,
    `${meant === undefined ? '' : `Did you mean ${meant}? `}${commandLine('list', target)} shows all; --args JSON calls one that is not listed`,
  );
}
