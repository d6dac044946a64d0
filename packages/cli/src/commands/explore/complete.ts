import type { Command } from 'commander';
import { chooseTarget, type GivenOptions } from '../../choose-target.js';
import { EXIT, usageError } from '../../cli-error.js';
import { clientCommand } from '../../common-options.js';
import { withSession } from '../../session/session.js';
import { commandLine } from '../../target.js';
import { processTerminal, writeJson } from '../../terminal/terminal.js';
import { oneLine } from '../../terminal/text.js';
import { toValues } from './prompt.js';

export function completeCommand(afterDashes: readonly string[] | undefined): Command {
  return clientCommand('complete', ' PROMPT|TEMPLATE argument=text [other=value …]', {
    description: 'Ask a server to complete an argument of a prompt, or a variable of a resource template.',
    help: [HELP],
    examples: [
      'isthmus complete unix:/tmp/demo.sock test_prompt_with_arguments arg1=a',
      "isthmus complete 'test://template/{id}/data' id=1 -- isthmus demo",
      'isthmus complete --config .mcp.json code review file=src/ language=ts --json',
    ],
  }).action(async (args: string[], given: GivenOptions) => {
    const { target, rest, options } = await chooseTarget('complete', args, afterDashes, given);
    const [name, ...assignments] = rest;
    const values = toValues(assignments);
    const [argument, ...others] = Object.entries(values);
    if (name === undefined || !argument) {
      const hint = `${commandLine('complete', target, 'PROMPT', 'argument=text')}; list … prompts and list … templates show the names`;
      throw usageError(
        name === undefined ? 'No prompt or template given' : 'No argument to complete given',
        hint,
      );
    }
    const ref = /[{]|:\/\//.test(name)
      ? ({ type: 'ref/resource', uri: name } as const)
      : ({ type: 'ref/prompt', name } as const);
    const params = {
      ref,
      argument: { name: argument[0], value: argument[1] },
      ...(others.length > 0 && { context: { arguments: Object.fromEntries(others) } }),
    };
    const terminal = processTerminal();
    const settings = { ...options, cache: true, list: 'prompts' as const };
    process.exitCode = await withSession(target, settings, terminal, async (session) => {
      const { client } = session;
      const server = oneLine(client.server.info?.name ?? session.connector.label);
      if (!client.server.capabilities.completions) throw usageError(`${server} offers no completions`);
      const completion = await session.request(`The completion of ${argument[0]}`, (callOptions) =>
        client.complete(params, callOptions),
      );
      const { values: found, hasMore, total } = completion;
      if (options.json) writeJson(terminal, completion);
      else for (const value of found) terminal.stdout.write(`${oneLine(String(value))}\n`);
      if (!options.json && found.length === 0) terminal.stderr.write(`${server} has no completion for it\n`);
      if (!options.json && hasMore)
        terminal.stderr.write(`isthmus: there are more${total === undefined ? '' : `: ${total} in all`}\n`);
      return EXIT.ok;
    });
  });
}

const HELP = `
The first argument is the one to complete, with the text that was typed so far; others are known already. A name with
{…} or :// is a resource template, any other name is a prompt. Each completion is one line.`;
