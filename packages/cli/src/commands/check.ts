import type { Command } from 'commander';
import { type CheckCommandOptions, withCheckOptions } from '../check/check-options.js';
import { CHECK_EXIT_HELP } from '../check/exit-code.js';
import type { GivenOptions } from '../choose-target.js';
import { clientCommand } from '../common-options.js';

export function checkCommand(behind: readonly string[] | undefined, version: string): Command {
  return withCheckOptions(
    clientCommand('check', '', {
      description: 'Find out whether a server is sound: protocol, resilience, lifetime, HTTP, tools, eras.',
      examples: EXAMPLES,
      help: [HELP],
      exitHelp: CHECK_EXIT_HELP,
    }),
  ).action(async (words: string[], given: GivenOptions<CheckCommandOptions>) => {
    const { runCheckCommand } = await import('../check/run-check-command.js');
    await runCheckCommand(words, behind, given, version);
  });
}

const EXAMPLES = [
  'isthmus check -- node my-server.js',
  'isthmus check http://127.0.0.1:8080/mcp --html report.html',
  'isthmus check --config .mcp.json weather --fail-on should',
  'isthmus check --suite tools --call-tools -- npx -y @modelcontextprotocol/server-everything',
  "isthmus check --through 'isthmus serve --port {port}' -- node my-server.js",
];

const HELP = `
Tools of the server are called only when they say that they only read (readOnlyHint); --call-tools and --allow call more.
A broken MUST fails the run, a broken SHOULD warns (--fail-on should fails it, too). What does not apply says why.

--through BRIDGE is a command line, in quotes. {command...} in it becomes the command of the target, {command} the same in
one word, {url} its address; without any of them the target stands at its end. A bridge with {port} is talked to over
HTTP at that port, others over stdio.`;
