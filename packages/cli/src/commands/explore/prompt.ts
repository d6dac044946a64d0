import type { GetPromptResult, Prompt } from '@isthmus/sdk/internal/wire/model.js';
import type { Command } from 'commander';
import { toAssignment } from '../../arguments/read-arguments.js';
import { suggest } from '../../arguments/suggest.js';
import { chooseTarget, type GivenOptions } from '../../choose-target.js';
import { EXIT, usageError } from '../../cli-error.js';
import { clientCommand } from '../../common-options.js';
import { type CliSession, withSession } from '../../session/session.js';
import { type CommandTarget, commandLine } from '../../target.js';
import { renderBlock } from '../../terminal/render-content.js';
import { processTerminal, type Terminal, writeJson } from '../../terminal/terminal.js';
import { oneLine } from '../../terminal/text.js';
import { type CallCommandOptions, setLogLevel, withRequestOptions } from '../call.js';

export function promptCommand(afterDashes: readonly string[] | undefined): Command {
  const command = clientCommand('prompt', ' PROMPT [argument=value …]', {
    description: 'Get a prompt of a server, and print its messages.',
    examples: [
      'isthmus prompt unix:/tmp/demo.sock test_simple_prompt',
      'isthmus prompt test_prompt_with_arguments arg1=a arg2=b -- isthmus demo',
      'isthmus prompt --config .mcp.json notes summarize style=short --json',
    ],
  });
  return withRequestOptions(command).action(
    async (args: string[], given: GivenOptions<CallCommandOptions>) => {
      const { target, rest, options } = await chooseTarget('prompt', args, afterDashes, given);
      const [name, ...assignments] = rest;
      if (name === undefined)
        throw usageError('No prompt given', `${commandLine('list', target, 'prompts')} shows the prompts`);
      const values = toValues(assignments);
      const terminal = processTerminal();
      const settings = { ...options, cache: true, list: 'prompts' as const };
      process.exitCode = await withSession(target, settings, terminal, async (session) => {
        await setLogLevel(session, options.logLevel);
        await checkArguments(session, target, name, values);
        const result = await session.request(`The prompt ${name}`, (callOptions) =>
          session.client.getPrompt(name, values, callOptions),
        );
        if (options.json) writeJson(terminal, result);
        else terminal.stdout.write(renderMessages(result, terminal));
        return EXIT.ok;
      });
    },
  );
}

/** Arguments of prompts are texts. */
export function toValues(assignments: readonly string[]): Record<string, string> {
  const values: Record<string, string> = {};
  for (const { key, text } of assignments.map(toAssignment)) {
    if (Object.hasOwn(values, key)) throw usageError(`The argument ${key} is given twice`);
    values[key] = text;
  }
  return values;
}

/** Refuses an unknown prompt and missing arguments, with what the server has. */
async function checkArguments(
  session: CliSession,
  target: CommandTarget,
  name: string,
  values: Readonly<Record<string, string>>,
): Promise<void> {
  const { client } = session;
  const server = oneLine(client.server.info?.name ?? session.connector.label);
  if (!client.server.capabilities.prompts) throw usageError(`${server} offers no prompts`);
  const prompts = await session.request('The list of prompts', (options) => client.listPrompts(options));
  const prompt = prompts.find((each) => each.name === name);
  const all = `${commandLine('list', target, 'prompts')} shows all`;
  if (!prompt) {
    const meant = suggest(
      name,
      prompts.map((each) => oneLine(each.name)),
    );
    const hint = meant === undefined ? all : `Did you mean ${meant}? ${all}`;
    throw usageError(`${server} has no prompt "${name}"`, hint);
  }
  const known = argumentsOf(prompt);
  const unknown = Object.keys(values).find((key) => known.every((each) => each.name !== key));
  const missing = known.filter((each) => each.required && !Object.hasOwn(values, each.name));
  if (unknown === undefined && missing.length === 0) return;
  const problem =
    unknown === undefined
      ? `${oneLine(name)} needs ${missing.map((each) => oneLine(each.name)).join(', ')}`
      : `${oneLine(name)} has no argument "${oneLine(unknown)}"`;
  const rows = known.map(
    (each) =>
      `  ${oneLine(each.name)}${each.required ? '' : ' (optional)'}  ${oneLine(each.description ?? '')}`,
  );
  const list =
    rows.length > 0 ? [`arguments of ${oneLine(name)}:`, ...rows] : [`${oneLine(name)} takes no arguments`];
  throw usageError(
    problem,
    'Write argument=value',
    list.map((row) => row.trimEnd()),
  );
}

function argumentsOf({ arguments: known }: Prompt): NonNullable<Prompt['arguments']> {
  return Array.isArray(known) ? known : [];
}

/** Each message with its role. */
function renderMessages({ messages }: GetPromptResult, terminal: Terminal): string {
  const all = Array.isArray(messages) ? messages : [];
  return all
    .map(
      ({ role, content }) =>
        `${terminal.out.bold(`${oneLine(String(role))}:`)}\n${renderBlock(content, terminal)}`,
    )
    .join('\n');
}
