import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import { serve } from '@isthmus/sdk/internal/server/serve.js';
import { Command, Option } from 'commander';
import { collect } from '../common-options.js';
import { delayOptimization } from '../delay-optimization.js';
import { createDemoServer } from '../demo/demo-server.js';
import { howWeWereCalled } from '../hosts/paste-lines.js';
import { listenAt } from '../serve/addresses.js';
import { noteOnTerminal } from '../terminal/terminal.js';

export function demoCommand(): Command {
  return new Command('demo')
    .description('Serve the built-in demo server, in both eras.')
    .option(
      '-l, --listen <address>',
      'stdio, unix:PATH, tcp://HOST:PORT or http://HOST:PORT/PATH (port 0 takes a free one); repeatable (default: stdio)',
      collect,
    )
    .addOption(new Option('-e, --era <era>', 'serve one era only').choices(['legacy', 'modern']))
    .addHelpText('after', HELP)
    .showHelpAfterError('(isthmus demo --help explains the options)')
    .exitOverride()
    .action(async ({ listen = ['stdio'], era }: { listen?: string[]; era?: Era }) => {
      delayOptimization({ compilesAtOnce: true });
      const served = await serve(createDemoServer(), listen.map(listenAt), {
        ownsProcess: true,
        ...(era && { eras: [era] }),
      });
      explain(served.addresses);
    });
}

const HELP = `
Tools: echo {text}, add {a,b}, sleep {ms}, big {bytes}, touch {}, crash {}, and those that the
official conformance suite needs (test_*). Resources: demo://clock, test://*. Prompts: test_*.

Examples:
  isthmus demo                                  # a stdio server, for a host to launch
  isthmus demo < requests.jsonl                 # answers all requests, then exits with 0
  isthmus demo --listen tcp://127.0.0.1:4000 --listen unix:/tmp/demo.sock
  isthmus demo --listen http://127.0.0.1:8080/mcp

Exit codes:
  0  it was stopped, or stdin has ended
  1  it cannot listen there
  2  the command line is invalid
`;

/** Writes to stderr, since stdout may belong to the protocol. */
function explain(addresses: readonly string[]): void {
  const sockets = addresses.filter((address) => address !== 'stdio');
  const isthmus = howWeWereCalled();
  if (sockets.length < addresses.length)
    noteOnTerminal('demo', `To try it: ${isthmus} call echo text=hello -- ${isthmus} demo`);
  if (sockets.length === 0) return;
  const lines = ['The Isthmus demo server is running, for clients of both eras:', ''];
  for (const address of sockets) {
    lines.push(`  ${address}`);
    lines.push(`    ${isthmus} probe ${address}`);
    lines.push(`    ${isthmus} call ${address} echo text=hello`, '');
  }
  lines.push('Ctrl-C stops it; running calls are finished first.', '');
  process.stderr.write(lines.join('\n'));
}
