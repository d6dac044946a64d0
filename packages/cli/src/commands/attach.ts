import type { AttachParams } from '@isthmus/gateway/internal/daemon/definition.js';
import { messageOf } from '@isthmus/sdk/internal/errors.js';
import { Command } from 'commander';
import {
  type AttachCommandOptions,
  addAttachOptions,
  applyOptions,
  authModeOf,
} from '../attach/attach-options.js';
import { findServer } from '../attach/find-server.js';
import { EXIT } from '../cli-error.js';
import { withAuth } from '../login/auth-options.js';
import { noteOnTerminal } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';

export function attachCommand(afterDashes: readonly string[] | undefined): Command {
  const command = new Command('attach')
    .description('Stdio proxy for MCP hosts; hosts with the same server definition share one process.')
    .usage(
      [
        'NAME [--config FILE]… [options]',
        'isthmus attach --url URL [options]',
        'isthmus attach [options] -- COMMAND ARGS…',
      ].join('\n       '),
    )
    .argument('[args...]')
    .configureHelp({ visibleArguments: () => [] });
  return addAttachOptions(command)
    .addHelpText('after', HELP)
    .showHelpAfterError('(isthmus attach --help explains the options)')
    .exitOverride()
    .action(async (args: string[], options: AttachCommandOptions) => {
      const read = async (mayAsk = false): Promise<AttachParams> => {
        const { server, warnings } = await findServer(args, afterDashes, options);
        for (const warning of warnings) process.stderr.write(`isthmus: warning: ${warning}\n`);
        const auth = authModeOf(args, options);
        const flags = auth === undefined ? options : { ...options, auth };
        return applyOptions(
          await withAuth(server, flags, { mayAsk, login: options, inDaemon: options.daemon }),
          options,
        );
      };
      // A reconnect reads the definition again, and never opens a browser.
      const params = await read(true);
      noteOnTerminal('attach', 'To try the server, give it to isthmus list, call or inspect');
      if (!options.daemon) return serveHere(params);
      const { runAttach } = await import('../attach/run-attach.js');
      await runAttach(params, read);
    });
}

/** Serves without the daemon, in this process. */
async function serveHere(params: AttachParams): Promise<void> {
  const { serveAlone } = await import('@isthmus/gateway/internal/daemon/serve-alone.js');
  await serveAlone(params, {
    onStderr: (text) => process.stderr.write(text),
    onStartFailed(error) {
      // The host sees this code, unless the server starts before stdin ends.
      process.exitCode = EXIT.cannotConnect;
      process.stderr.write(`isthmus: ${oneLine(messageOf(error))}\n`);
    },
    onKnown() {
      process.exitCode = EXIT.ok;
    },
  });
}

const HELP = `
A daemon of this user runs the servers. The first host starts it, and it exits when the last host has disconnected
and the grace period is over. Hosts share a server when its definition is the same: command, arguments, variables,
folder; or URL and headers. Host and server may be of different eras.

NAME is a server of the files of --config, else of ISTHMUS_CONFIG, else of ~/.config/isthmus/mcp.json.

A login for the URL (isthmus login URL) is used and renewed. --auth browser begins one when attach starts, if there is
none; so does a line in the words of mcp-remote.

Examples, for the configuration of a host:
  isthmus attach weather --config ~/project/.mcp.json
  isthmus attach -- npx -y @modelcontextprotocol/server-everything
  isthmus attach --url https://example.com/mcp --header 'Authorization: Bearer \${TOKEN}'

Exit codes:
  0    the host has disconnected, and all answers were sent
  2    the command line or the configuration is invalid
  3    cannot connect to the server
  5    the login failed
`;
