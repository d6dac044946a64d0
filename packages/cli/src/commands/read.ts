import type { Command } from 'commander';
import { chooseTarget, type GivenOptions } from '../choose-target.js';
import { usageError } from '../cli-error.js';
import { clientCommand } from '../common-options.js';
import { EXIT } from '../exit-codes.js';
import { withSession } from '../session.js';
import { commandLine } from '../target.js';
import { renderResource } from '../terminal/render-content.js';
import { processTerminal, writeJson } from '../terminal/terminal.js';
import { type CallCommandOptions, setLogLevel, withRequestOptions } from './call.js';

export function readCommand(behind: readonly string[] | undefined): Command {
  const command = clientCommand('read', ' URI', {
    description: 'Read a resource. Text is printed; bytes go as they are into a file or a pipe.',
    examples: [
      'isthmus read unix:/tmp/demo.sock demo://clock',
      'isthmus read --config .mcp.json weather weather://oslo/today',
      'isthmus read test://static-binary -- isthmus demo > picture.png',
    ],
  });
  return withRequestOptions(command).action(
    async (words: string[], given: GivenOptions<CallCommandOptions>) => {
      const { target, rest, options } = await chooseTarget('read', words, behind, given);
      const [uri, ...more] = rest;
      if (uri === undefined) {
        const list = commandLine('list', target, 'resources');
        throw usageError('There is no URI to read', `${list} shows what there is`);
      }
      if (more.length > 0) throw usageError(`read takes one URI; what is "${more[0]}"?`);
      const terminal = processTerminal();
      process.exitCode = await withSession(target, { ...options, cache: true }, terminal, async (session) => {
        await setLogLevel(session, options.logLevel);
        const result = await session.request(`Reading ${uri}`, (callOptions) =>
          session.client.readResource(uri, callOptions),
        );
        if (options.json) writeJson(terminal, result);
        else terminal.stdout.write(renderResource(result, terminal));
        return EXIT.ok;
      });
    },
  );
}
