import type { Command } from 'commander';
import { collect, toInput, toMs } from '../../common-options.js';
import { controlCommand } from '../../control/control-command.js';
import { type DoctorOptions, runDoctor } from '../../control/doctor/run-doctor.js';
import { processTerminal } from '../../terminal/terminal.js';

export function doctorCommand(): Command {
  return controlCommand('doctor', {
    description:
      'Explain why a server does not start, which era it speaks, what is missing, and how to fix it.',
    help: HELP,
  })
    .argument('[name]', 'one server; without it, all of them')
    .option('-c, --config <file>', 'examine the servers of this file; repeatable, later files win', collect)
    .option(
      '--input <id=value>',
      'a value for input:ID of the file, which an editor would ask for; repeatable',
      toInput,
    )
    .option('-t, --timeout <ms>', 'limit for an answer of a server', toMs, 30_000)
    .option('--json', 'print the findings as JSON')
    .action(async (name: string | undefined, options: DoctorOptions) => {
      process.exitCode = await runDoctor(name, options, { terminal: processTerminal() });
    });
}

const HELP = `
doctor asks a running gateway about its servers, and starts none of them a second time. It starts servers of --config
FILE that the gateway does not run, asks them, and stops them. Without either, it examines the servers of known
applications (.mcp.json, Claude Desktop, Codex, Cursor, VS Code, Windsurf, Zed).

Examples:
  isthmus doctor                              # problems of the running servers
  isthmus doctor weather
  isthmus doctor --config .mcp.json           # will these servers start?
  isthmus doctor --config .mcp.json --json | jq '.servers[].problems'

Exit codes:
  0  everything ok
  1  there is a problem
  2  the command line is invalid, or there is no such server
  3  no gateway is running, and there are no servers to examine
  130  interrupted by Ctrl-C`;
