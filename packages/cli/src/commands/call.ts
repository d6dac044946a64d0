import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { LoggingLevel, Tool } from '@isthmus/sdk/internal/wire/model.js';
import { type Command, Option } from 'commander';
import { type Assignment, fromJson, readArguments, toAssignment } from '../arguments/read-arguments.js';
import { suggest } from '../arguments/suggest.js';
import { chooseTarget, type GivenOptions } from '../choose-target.js';
import { usageError } from '../cli-error.js';
import { type CommonOptions, clientCommand, collect } from '../common-options.js';
import { EXIT } from '../exit-codes.js';
import { type CliSession, withSession } from '../session.js';
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
}

/** The options of commands whose request may take long and may be answered with a question. */
export function withRequestOptions(command: Command): Command {
  return command
    .option('--progress', 'write progress as plain lines when stderr is no terminal')
    .option('--answer <key=value>', 'answer a field that the server asks for; repeatable', collect)
    .option('--root <folder>', 'a folder that the server is told of; repeatable (default: this one)', collect)
    .option('--no-roots', 'tell the server of no folder')
    .addOption(
      new Option('--log-level <level>', 'logs from this level on, on stderr').choices([
        'debug',
        'info',
        'notice',
        'warning',
        'error',
        'critical',
        'alert',
        'emergency',
      ]),
    );
}

export function callCommand(behind: readonly string[] | undefined): Command {
  const command = clientCommand('call', ' TOOL [key=value …]', {
    description: 'Call a tool and print its result.',
    help: [HELP],
    examples: [
      'isthmus call unix:/tmp/demo.sock echo text=hi',
      'isthmus call add a=2 b=3 -- isthmus demo',
      'isthmus call --config .mcp.json weather get_forecast city=Oslo',
      `isthmus call tcp://127.0.0.1:4000 add --args '{"a": 2, "b": 3}' --json`,
      'isthmus call test_elicitation --answer username=ada -- isthmus demo',
    ],
  }).option('--args <json>', 'all arguments at once, as a JSON object');
  return withRequestOptions(command).action(
    async (words: string[], given: GivenOptions<CallCommandOptions & { args?: string }>) => {
      const { target, rest, options } = await chooseTarget('call', words, behind, given);
      const request = toRequest(target, rest, options.args);
      const terminal = processTerminal();
      process.exitCode = await withSession(target, { ...options, cache: true }, terminal, (session) =>
        call(request, session, terminal, options),
      );
    },
  );
}

const HELP = `
Values are read by the tool's schema: numbers, true and false, JSON for objects and lists; a list also takes one
item, and more with the key again. key:=JSON is JSON whatever the schema says. When the server asks for something
it is asked on the terminal; without one the answer is cancel, unless --answer was given.`;

interface ToolRequest {
  readonly target: CommandTarget;
  readonly tool: string;
  /** Ready, or to be typed by the tool's schema. */
  readonly args: JsonObject | readonly Assignment[];
}

function toRequest(target: CommandTarget, rest: readonly string[], json: string | undefined): ToolRequest {
  const [tool, ...words] = rest;
  if (tool === undefined || /^[^=]+:?=/.test(tool)) {
    throw usageError(
      tool === undefined ? 'There is no tool to call' : `"${tool}" is where the name of the tool should be`,
      `${commandLine('list', target)} shows the tools`,
    );
  }
  if (json === undefined) return { target, tool, args: words.map(toAssignment) };
  if (words.length > 0) {
    throw usageError(`Arguments come from --args or as key=value, not both: "${words[0]}"`);
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
  const values = isAssignments(args) ? readArguments(args, await findTool(session, target, tool)) : args;
  const result = await session.request(`The call of ${tool}`, (callOptions) =>
    client.callTool(tool, values, callOptions),
  );
  if (options.json) {
    writeJson(terminal, result);
  } else {
    const text = renderToolResult(result, terminal);
    if (!result.isError) terminal.stdout.write(text);
    else terminal.stderr.write(`${terminal.err.red(`isthmus: ${oneLine(tool)} failed:`)} ${text}`);
  }
  return result.isError ? EXIT.failed : EXIT.ok;
}

/** Legacy servers are told once; modern ones with every request. */
export async function setLogLevel({ client }: CliSession, level: LoggingLevel | undefined): Promise<void> {
  if (level !== undefined && client.server.capabilities.logging) await client.setLogLevel(level);
}

function isAssignments(args: ToolRequest['args']): args is readonly Assignment[] {
  return Array.isArray(args);
}

/** The tool as the server describes it; nothing when the server has no list. */
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
