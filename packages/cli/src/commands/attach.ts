import type { AttachParams } from '@isthmus/gateway/internal/daemon/definition.js';
import { messageOf } from '@isthmus/sdk/internal/errors.js';
import { Command } from 'commander';
import { type AttachCommandOptions, addAttachOptions, applyOptions } from '../attach/attach-options.js';
import { findServer } from '../attach/find-server.js';
import { EXIT } from '../exit-codes.js';
import { oneLine } from '../terminal/text.js';

export function attachCommand(behind: readonly string[] | undefined): Command {
  const command = new Command('attach')
    .description('Be the stdio server that a host launches; hosts that mean the same server share it.')
    .usage(
      [
        'NAME [--config FILE]… [options]',
        'isthmus attach --url URL [options]',
        'isthmus attach [options] -- COMMAND ARGS…',
      ].join('\n       '),
    )
    .argument('[words...]')
    .configureHelp({ visibleArguments: () => [] });
  return addAttachOptions(command)
    .addHelpText('after', HELP)
    .showHelpAfterError('(isthmus attach --help explains the options)')
    .exitOverride()
    .action(async (words: string[], options: AttachCommandOptions) => {
      const read = async (): Promise<AttachParams> => {
        const { server, warnings } = await findServer(words, behind, options);
        for (const warning of warnings) process.stderr.write(`isthmus: warning: ${warning}\n`);
        return applyOptions(server, options);
      };
      const params = await read();
      if (!options.daemon) return alone(params);
      const { runAttach } = await import('../attach/run-attach.js');
      await runAttach(params, read);
    });
}

/** The whole of it in this process; loaded only then. */
async function alone(params: AttachParams): Promise<void> {
  const { serveAlone } = await import('@isthmus/gateway/internal/daemon/serve-alone.js');
  await serveAlone(params, {
    onStderr: (text) => process.stderr.write(text),
    onStartFailed(error) {
      // For whoever launched us, should it come to nothing better before stdin ends.
      process.exitCode = EXIT.cannotConnect;
      process.stderr.write(`isthmus: ${oneLine(messageOf(error))}\n`);
    },
    onKnown() {
      process.exitCode = EXIT.ok;
    },
  });
}

const HELP = `
A daemon of this user keeps the servers. It is started when the first host comes, and ends when the last one has
gone and the grace is over. Hosts share a server when its definition is the same: command, arguments, variables,
folder; or URL and headers. Host and server may be of different eras.

NAME is looked for in the files of --config, else of ISTHMUS_CONFIG, else in ~/.config/isthmus/mcp.json.

Examples, as a host has them in its configuration:
  isthmus attach weather --config ~/project/.mcp.json
  isthmus attach -- npx -y @modelcontextprotocol/server-everything
  isthmus attach --url https://example.com/mcp --header 'Authorization: Bearer \${TOKEN}'

Exit codes:
  0    the host has gone, and all answers have left
  2    the command line, or the configuration, makes no sense
  3    there was no way to the server
`;
