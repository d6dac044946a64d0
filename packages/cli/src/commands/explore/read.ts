import type { Command } from 'commander';
import { chooseTarget, type GivenOptions } from '../../choose-target.js';
import { EXIT, usageError } from '../../cli-error.js';
import { clientCommand } from '../../common-options.js';
import { withSession } from '../../session/session.js';
import { commandLine } from '../../target.js';
import { renderResource } from '../../terminal/render-content.js';
import { processTerminal, writeJson } from '../../terminal/terminal.js';
import { type CallCommandOptions, setLogLevel, withRequestOptions } from '../call.js';

export function readCommand(afterDashes: readonly string[] | undefined): Command {
  const command = clientCommand('read', ' URI', {
    description: 'Read a resource and print it; binary contents go unchanged into a file or a pipe.',
    examples: [
      'isthmus read unix:/tmp/demo.sock demo://clock',
      'isthmus read --config .mcp.json weather weather://oslo/today',
      'isthmus read test://static-binary -- isthmus demo > picture.png',
    ],
  });
  return withRequestOptions(command).action(
    async (args: string[], given: GivenOptions<CallCommandOptions>) => {
      const { target, rest, options } = await chooseTarget('read', args, afterDashes, given);
      const [uri, ...more] = rest;
      if (uri === undefined) {
        const list = commandLine('list', target, 'resources');
        throw usageError('No URI given', `${list} shows the resources`);
      }
      if (more.length > 0) throw usageError(`Unexpected argument "${more[0]}": read takes one URI`);
      const terminal = processTerminal();
      process.exitCode = await withSession(
        target,
        { ...options, cache: true, list: 'resources' },
        terminal,
        async (session) => {
          await setLogLevel(session, options.logLevel);
          const result = await session.request(`Reading ${uri}`, (callOptions) =>
            session.client.readResource(uri, callOptions),
          );
          if (options.json) writeJson(terminal, result);
          else terminal.stdout.write(renderResource(result, terminal));
          return EXIT.ok;
        },
      );
    },
  );
}
