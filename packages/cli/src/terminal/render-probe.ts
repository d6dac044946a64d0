import { revisionLabel } from '@isthmus/sdk/internal/era/revisions.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { ProbedListKind, ProbeReport } from '../probe/probe-report.js';
import { table } from './table.js';
import type { Terminal } from './terminal.js';
import { cut, oneLine } from './text.js';

export function renderProbe(report: ProbeReport, { width, out }: Terminal): string {
  const rows = [
    ['era', `${report.era}, revision ${revisionLabel(report.revision)}${alsoSpeaks(report)}`],
    ['because', `${sentence(report.verdict.why)}${SOURCES[report.verdict.source]}`],
    // A single step is what the reason says already.
    ...(report.verdict.evidence.length > 1 ? numbered('evidence', report.verdict.evidence) : []),
    ['server', describeServer(report.server)],
    ['offers', Object.entries(report.capabilities).map(describeCapability).join(', ') || 'nothing'],
    ...(['tools', 'resources', 'templates', 'prompts'] as const).map((kind) => [
      kind,
      describeCount(report, kind),
    ]),
    ['took', `${report.timings.connectMs} ms to connect, ${report.timings.totalMs} ms in all`],
    ...(report.instructions === null ? [] : [['advice', cut(oneLine(report.instructions), MAX_ADVICE)]]),
    ...(report.odd.length === 0
      ? [['odd', 'nothing']]
      : numbered(
          'odd',
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
        return text === 'odd' && report.odd.length > 0 ? out.yellow(text) : out.dim(text);
      },
    },
  );
  return `${out.bold(oneLine(report.target))}\n${lines}`;
}

const MAX_ADVICE = 200;
const SOURCES = {
  probe: '',
  cache: ' (remembered; --cache was given)',
  mode: ' (--mode was given)',
} as const;

function alsoSpeaks({ supportedVersions, revision }: ProbeReport): string {
  const others = (supportedVersions ?? []).filter((version) => version !== revision).map(String);
  return others.length === 0 ? '' : ` (it also names ${others.join(', ')})`;
}

/** The name once, then one row for each. */
function numbered(name: string, texts: readonly string[]): string[][] {
  return texts.map((text, at) => [at === 0 ? name : '', texts.length > 1 ? `${at + 1}. ${text}` : text]);
}

function sentence(why: string): string {
  return why.charAt(0).toUpperCase() + why.slice(1);
}

function describeServer(info: ProbeReport['server']): string {
  if (!isJsonObject(info)) return 'does not say who it is';
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
  if (ms === undefined) return 'not offered';
  return counts[kind] === null ? `cannot be listed (${ms} ms)` : `${counts[kind]} (${ms} ms)`;
}
