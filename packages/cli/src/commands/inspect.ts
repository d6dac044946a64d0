import { type Command, InvalidArgumentError } from 'commander';
import type { GivenOptions } from '../choose-target.js';
import { clientCommand, collect } from '../common-options.js';
import type { InspectCommandOptions } from '../inspect/run-inspect.js';

export function inspectCommand(afterDashes: readonly string[] | undefined): Command {
  return clientCommand('inspect', '', {
    description:
      'Show a server in the browser: its era and why, its tools, every frame, and both eras at once.',
    help: [HELP],
    withoutName: 'the page chooses among the names of the file',
    examples: [
      'isthmus inspect -- npx -y @modelcontextprotocol/server-everything',
      'isthmus inspect https://example.com/mcp --header "Authorization: Bearer …"',
      'isthmus inspect --config .mcp.json weather --no-open',
      'isthmus inspect --record failure.mcptrace -- node my-server.js',
      'isthmus inspect failure.mcptrace',
    ],
    without: ['--stderr'],
  })
    .option('--port <port>', 'the port of the page on 127.0.0.1 (default: a free one)', toPort)
    .option('--no-open', 'print the link and open no browser')
    .option(
      '--root <folder>',
      'a folder to send when the server asks for roots; repeatable (default: the current one)',
      collect,
    )
    .option('--no-roots', 'do not offer roots to the server')
    .option('--record <file>', 'write all frames into a new trace file, without secrets')
    .action(async (args: string[], given: GivenOptions<InspectCommandOptions>) => {
      const { runInspect } = await import('../inspect/run-inspect.js');
      await runInspect(args, afterDashes, given);
    });
}

const HELP = `
The command prints a link that works once, within 60 seconds, and opens it in your browser. Ctrl-C ends the page and the
server. The page cannot name another command, address, header or variable: it shows the server of this command line.
FILE.mcptrace shows a trace file.`;

function toPort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('It must be a port, 0 to 65535.');
}
