import { revisionLabel } from '@isthmus/sdk/internal/era/revisions.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Command } from 'commander';
import { chooseTarget, type GivenOptions } from '../choose-target.js';
import { CliError, EXIT, usageError } from '../cli-error.js';
import { type CommonOptions, clientCommand } from '../common-options.js';
import {
  countDropped,
  type ProbedListKind,
  type ProbeReport,
  probeServer,
  toReport,
} from '../probe/probe-server.js';
import { withSession } from '../session/session.js';
import { type CommandTarget, commandLine } from '../target.js';
import { table } from '../terminal/table.js';
import { processTerminal, type Terminal, writeJson } from '../terminal/terminal.js';
import { cut, oneLine } from '../terminal/text.js';

export function probeCommand(afterDashes: readonly string[] | undefined): Command {
  return clientCommand('probe', '', {
    description: 'Show what a server is: its era and why, its capabilities, how fast it is, and warnings.',
    examples: [
      'isthmus probe -- npx -y @modelcontextprotocol/server-everything',
      'isthmus probe unix:/tmp/demo.sock',
      'isthmus probe --config .mcp.json weather',
      'isthmus probe tcp://127.0.0.1:4000 --json | jq .odd',
    ],
  })
    .option('--cache', 'use the era that an earlier command found, instead of asking the server')
    .action(async (args: string[], given: GivenOptions<CommonOptions & { cache?: boolean }>) => {
      const { target, rest, options } = await chooseTarget('probe', args, afterDashes, given);
      if (rest.length > 0) throw usageError(`Unexpected argument "${rest[0]}": probe takes only a target`);
      const terminal = processTerminal();
      const noise = { count: 0, sample: '' };
      const dropped = countDropped();
      process.exitCode = await withSession(
        target,
        {
          ...options,
          cache: options.cache === true,
          onNoise(line) {
            noise.count += 1;
            if (noise.count === 1) noise.sample = oneLine(line.error.message);
          },
        },
        terminal,
        async (session) => {
          const report = toReport(await probeServer(session, noise, dropped.counts));
          if (options.json) writeJson(terminal, report);
          else terminal.stdout.write(renderProbe(report, terminal));
          return EXIT.ok;
        },
      )
        .catch(async (error: unknown) => {
          throw await withLoginFacts(error, target);
        })
        .finally(dropped.stop);
    });
}

/** A failure because a login is missing, with what the login would need. Nothing is logged in. */
async function withLoginFacts(error: unknown, target: CommandTarget): Promise<unknown> {
  if (!(error instanceof CliError) || error.exitCode !== EXIT.needsLogin || target.kind !== 'url')
    return error;
  const { loginFactLines } = await import('../login/login-facts-lines.js');
  const evidence = [...error.evidence, ...(await loginFactLines(target.url))];
  return new CliError(error.exitCode, error.message, {
    evidence,
    hint: `${commandLine('login', target)}, or --header "Authorization: Bearer …"`,
  });
}

function renderProbe(report: ProbeReport, { width, out }: Terminal): string {
  const rows = [
    ['era', `${report.era}, revision ${revisionLabel(report.revision)}${alsoSpeaks(report)}`],
    ['because', `${sentence(report.verdict.why)}${SOURCES[report.verdict.source]}`],
    // A single step is the same as the reason.
    ...(report.verdict.evidence.length > 1 ? numbered('evidence', report.verdict.evidence) : []),
    ['server', describeServer(report.server)],
    ['capabilities', Object.entries(report.capabilities).map(describeCapability).join(', ') || 'none'],
    ...(['tools', 'resources', 'templates', 'prompts'] as const).map((kind) => [
      kind,
      describeCount(report, kind),
    ]),
    ['took', `${report.timings.connectMs} ms to connect, ${report.timings.totalMs} ms in total`],
    ...(report.instructions === null
      ? []
      : [['instructions', cut(oneLine(report.instructions), MAX_INSTRUCTIONS)]]),
    ...(report.odd.length === 0
      ? [['warnings', 'none']]
      : numbered(
          'warnings',
          report.odd.map(({ message }) => message),
        )),
  ];
  const lines = table(
    rows.map(([name, text]) => [name!, oneLine(text!)]),
    {
      width,
      indent: '  ',
      maxLines: 6,
      paint: (text, column) => {
        if (column > 0) return text;
        return text === 'warnings' && report.odd.length > 0 ? out.yellow(text) : out.dim(text);
      },
    },
  );
  return `${out.bold(oneLine(report.target))}\n${lines}`;
}

const MAX_INSTRUCTIONS = 200;
const SOURCES = {
  probe: '',
  cache: ' (from the cache; --cache was given)',
  mode: ' (--era was given)',
} as const;

function alsoSpeaks({ supportedVersions, revision }: ProbeReport): string {
  const others = (supportedVersions ?? []).filter((version) => version !== revision).map(String);
  return others.length === 0 ? '' : ` (it also supports ${others.join(', ')})`;
}

/** A row for each text. Only the first has the name. */
function numbered(name: string, texts: readonly string[]): string[][] {
  return texts.map((text, at) => [at === 0 ? name : '', texts.length > 1 ? `${at + 1}. ${text}` : text]);
}

function sentence(why: string): string {
  return why.charAt(0).toUpperCase() + why.slice(1);
}

function describeServer(info: ProbeReport['server']): string {
  if (!isJsonObject(info)) return 'did not send its name';
  const { name, version, title } = info as Record<string, unknown>;
  const id = [name, version].filter((part) => typeof part === 'string').join(' ');
  return typeof title === 'string' && title !== name ? `${title} (${id})` : id;
}

function describeCapability([name, settings]: [string, unknown]): string {
  const details = isJsonObject(settings)
    ? Object.entries(settings)
        .filter(([, value]) => value !== false)
        .map(([key]) => key)
    : [];
  return details.length === 0 ? name : `${name} (${details.join(', ')})`;
}

function describeCount({ counts, timings }: ProbeReport, kind: ProbedListKind): string {
  const ms = timings[`${kind}Ms`];
  if (ms === undefined) return 'not declared';
  return counts[kind] === null ? `the list fails (${ms} ms)` : `${counts[kind]} (${ms} ms)`;
}
