import type { Command } from 'commander';
import { collect, toInput, toMs } from '../common-options.js';
import { controlCommand } from '../control/control-command.js';
import { type DoctorOptions, runDoctor } from '../control/doctor/run-doctor.js';
import { processTerminal } from '../terminal/terminal.js';

export function doctorCommand(): Command {
  return controlCommand('doctor', {
    description: 'Why a server does not start, which era it speaks and why, what is missing and what to do.',
    help: HELP,
  })
    .argument('[name]', 'one server; without it, all of them')
    .option(
      '-c, --config <file>',
      'look at the servers of this file; repeatable, and later files win',
      collect,
    )
    .option(
      '--input <id=value>',
      'a value that the file leaves to its editor to ask for; repeatable',
      toInput,
    )
    .option('-t, --timeout <ms>', 'how long a server may take to answer', toMs, 30_000)
    .option('--json', 'print the findings as JSON')
    .action(async (name: string | undefined, options: DoctorOptions) => {
      process.exitCode = await runDoctor(name, options, { terminal: processTerminal() });
    });
}

const HELP = `
A running gateway is asked how its servers are, and none of them is started a second time. Servers of --config FILE
that it does not run are started, asked and ended again. Without either, those of the known applications are looked
at (.mcp.json, Claude Desktop, Codex, Cursor, VS Code, Windsurf, Zed).

Examples:
  isthmus doctor                              # what is wrong with what runs?
  isthmus doctor weather
  isthmus doctor --config .mcp.json           # will these servers start?
  isthmus doctor --config .mcp.json --json | jq '.servers[].problems'

Exit codes:
  0  all is well
  1  something is wrong
  2  the command line makes no sense, or there is no such server
  3  no gateway is running, and there are no servers to look at
  130  interrupted by Ctrl-C`;
