import { type Era, SUITES } from '@isthmus/check/internal/model.js';
import type { FailOn } from '@isthmus/check/internal/run/grade.js';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ReportFiles } from '../check/report-files.js';
import type { TokenOptions } from '../check/to-tokens.js';
import type { GivenOptions } from '../choose-target.js';
import { type CommonOptions, clientCommand, collect } from '../common-options.js';

export interface CheckCommandOptions extends CommonOptions, ReportFiles, TokenOptions {
  readonly suite?: readonly string[];
  readonly only?: readonly string[];
  readonly skip?: readonly string[];
  readonly era?: Era;
  readonly callTools?: boolean;
  /** `false` with --no-tools. */
  readonly tools?: boolean;
  readonly allow?: readonly string[];
  readonly args?: readonly string[];
  readonly seed?: number;
  readonly fuzz?: number;
  readonly failOn: FailOn;
  readonly baseline?: string;
  readonly updateBaseline?: boolean;
  readonly through?: string;
  readonly throughPath?: string;
  readonly sarifArtifact?: string;
  readonly verbose?: boolean;
  readonly list?: boolean;
}

export function checkCommand(afterDashes: readonly string[] | undefined): Command {
  return clientCommand('check', '', {
    description: 'Check that a server is correct: protocol, resilience, lifetime, HTTP, tools, eras.',
    examples: EXAMPLES,
    help: [HELP],
    exits: EXIT_HELP,
    timeout: 'limit for each answer (default: 5000)',
    // check tries every era (--era picks one), and it shows stderr where that explains a finding.
    without: ['--era', '--stderr'],
  })
    .option('--suite <name>', `only this suite: ${SUITES.join(', ')}; repeatable`, collect)
    .option('--only <check>', 'only this check; * matches anything: "tools/*"; repeatable', collect)
    .option('--skip <check>', 'leave this check out; repeatable', collect)
    .addOption(new Option('--era <era>', 'only this era').choices(['modern', 'legacy']))
    .option(
      '--call-tools',
      'also call tools that are not marked as read-only, unless they are marked as destructive',
    )
    .option('--no-tools', 'call only the tools of --allow, not even those that are marked as read-only')
    .option('--allow <tool>', 'call this tool, whatever its annotations; repeatable', collect)
    .option('--args <tool=json>', 'arguments to call a tool with; repeatable', collect)
    .option(
      '--token <kind=source>',
      'a token for checks of tokens: good, expired, foreign, weak, broad or other, from env:NAME or file:PATH; repeatable',
      collect,
    )
    .option('--token-key <file>', 'the private key (PEM or JWK) of a test issuer, to sign such tokens with')
    .option(
      '--token-claims <json>',
      'the claims of a good token: iss, aud, sub, scope (default aud: the URL)',
    )
    .option('--weak-scope <scopes>', 'the scopes of the weak token (default: none)')
    .option('--broad-scope <scopes>', 'scopes that imply those of the good token')
    .option('--seed <number>', 'generate the same input as the run with this seed', toWhole)
    .option(
      '--fuzz <runs>',
      'number of generated inputs for each check that uses them (default: 100)',
      toWhole,
    )
    .addOption(
      new Option('--fail-on <level>', 'the lowest level that fails the run')
        .choices(['must', 'should'])
        .default('must'),
    )
    .option('--baseline <file>', 'known failures; an entry that is fixed or gone fails the run')
    .option('--update-baseline', 'write what fails now into the file of --baseline')
    .option(
      '--through <bridge>',
      'check the target alone and through this bridge, and report every difference',
    )
    .option('--through-path <path>', 'the path of a bridge with a {port} (default: /mcp)')
    .option('--junit <file>', 'write the report as JUnit XML')
    .option('--sarif <file>', 'write the report as SARIF 2.1.0')
    .option('--sarif-artifact <file>', 'the file of the repository that SARIF shows results at')
    .option('--html <file>', 'write the report as one HTML page')
    .option('--verbose', 'also list what passes and what does not apply, and shorten nothing')
    .option('--list', 'list the checks without running them')
    .action(async (args: string[], given: GivenOptions<CheckCommandOptions>) => {
      // The catalogue of checks takes time to load.
      const { runCheckCommand } = await import('../check/run-check.js');
      await runCheckCommand(args, afterDashes, given);
    });
}

const EXAMPLES = [
  'isthmus check -- node my-server.js',
  'isthmus check http://127.0.0.1:8080/mcp --html report.html',
  'isthmus check --config .mcp.json weather --fail-on should',
  'isthmus check --suite tools --call-tools -- npx -y @modelcontextprotocol/server-everything',
  'isthmus check https://example.com/mcp --token good=env:GOOD --token expired=env:OLD --token weak=file:weak.txt',
  "isthmus check --through 'isthmus serve --port {port}' -- node my-server.js",
];

const HELP = `
check calls only tools that are marked as read-only (readOnlyHint); --call-tools and --allow call more.
A broken MUST fails the run; a broken SHOULD is a warning (--fail-on should: it fails the run, too). A check that does
not apply has a reason.

--through BRIDGE is a command line, in quotes. {command...} in it becomes the command of the target, {command} the same
as one argument, {url} its address; without any of them the target is added at the end. A bridge with {port} is reached
over HTTP at that port, others over stdio.`;

const EXIT_HELP = `
Exit codes:
  0  every MUST that applies holds (--fail-on should: every SHOULD, too), or the baseline has those that do not
  1  a rule is broken, the server went away, a check could not be finished, no check applied, or an entry of the
     baseline is stale
  2  the command line or the baseline is invalid
  3  cannot connect to the server
  4  the server does not speak any era of MCP, so there is nothing to check
  5  the server wants a login or a key: --header, or isthmus login URL
  130  interrupted by Ctrl-C (143: by SIGTERM)`;

function toWhole(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= 2 ** 31) return value;
  throw new InvalidArgumentError('It must be a whole number.');
}
