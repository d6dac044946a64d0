import type { Finding, WireLine } from '../../model.js';
import { excerptOf, KEPT } from '../../wire/excerpt.js';
import { concerns } from '../catalogue.js';
import type { ClientCheck, ClientFacts, Opinion } from '../checks/check.js';
import type { ClientTranscript, Entry, Over } from '../model.js';
import { scenarioNamed } from '../scenarios/index.js';
import { type View, viewOf } from '../view.js';

/** What all runs show about the client. `insisted`: the eras that the user says it speaks (`--eras`). */
export function factsOf(
  transcripts: readonly ClientTranscript[],
  insisted: readonly ('modern' | 'legacy')[] = [],
): ClientFacts {
  const said = viewsOf(transcripts).flatMap(({ requests }) => requests);
  return {
    calls: said.some(({ method }) => method === 'tools/call'),
    ends: transcripts.some(({ end }) => !end.late),
    browses: transcripts.some(({ entries }) => entries.some(({ kind }) => kind === 'opened')),
    modern: insisted.includes('modern') || said.some(({ era }) => era === 'modern'),
    legacy: insisted.includes('legacy') || said.some(({ method }) => method === 'initialize'),
  };
}

export function viewsOf(transcripts: readonly ClientTranscript[]): View[] {
  return transcripts.flatMap((transcript) => {
    const scenario = scenarioNamed(transcript.scenario);
    return scenario ? [viewOf(transcript, scenario)] : [];
  });
}

/**
 * One finding for one check, from all runs that it looks at. It fails when one run fails, and passes when one run passes and
 * none fails. When the time limit of a run expired first, a SHOULD is broken, since the client hangs. A MUST is undecided,
 * since the client may have a longer limit of its own. `missing` says why a transport was not tried.
 */
export function judge(
  check: ClientCheck,
  views: readonly View[],
  facts: ClientFacts,
  missing: Partial<Record<Over, string>> = {},
): Finding {
  const opinions = views
    .filter(({ scenario, transcript }) => concerns(check, scenario, transcript.over))
    .map((view) => ({ view, opinion: opinionOf(check, view, facts) }));
  const open = opinions.filter(({ opinion }) => opinion.kind === 'undecided');
  const decided = opinions.filter(({ opinion }) => opinion.kind === 'fail');
  // A client that never ends by itself shows nothing about its limits.
  const failed = check.level === 'MUST' || !facts.ends ? decided : [...decided, ...open];
  const passed = opinions.filter(({ opinion }) => opinion.kind === 'pass');
  const [chosen] = failed.length > 0 ? failed : open.length > 0 ? open : passed;
  const head = {
    id: check.id,
    suite: check.suite,
    title: check.title,
    level: check.level,
    rules: check.rules,
    ...(check.reason !== undefined && { reason: check.reason }),
    hint: check.hint,
    ms: 0,
  };
  if (!chosen)
    return { ...head, outcome: 'skip', seen: whySkipped(check, opinions, missing), expected: '', wire: [] };
  const { view, opinion } = chosen;
  const where = `${view.scenario.name} over ${view.transcript.over}`;
  const others = (failed.length > 0 ? failed : open.length > 0 ? open : passed).length - 1;
  const more = others > 0 ? ` (and in ${others} more ${others === 1 ? 'run' : 'runs'})` : '';
  if (opinion.kind === 'undecided' && failed.length === 0) {
    return {
      ...head,
      outcome: facts.ends ? 'skip' : 'error',
      seen: `Undecided, since the time limit of this check expired: ${opinion.seen}, with ${where}${more}`,
      expected: opinion.expected,
      wire: facts.ends ? [] : excerpt(view.transcript.entries, opinion.at),
    };
  }
  if (opinion.kind === 'pass' || opinion.kind === 'skip') {
    return {
      ...head,
      outcome: 'pass',
      seen: `${opinion.seen}, with ${where}${more}`,
      expected: '',
      wire: [],
    };
  }
  return {
    ...head,
    outcome: check.level === 'MUST' ? 'fail' : 'warn',
    seen: `${opinion.seen}, with ${where}${more}`,
    expected: opinion.expected,
    wire: excerpt(view.transcript.entries, opinion.at),
  };
}

/** A client that could not be started has shown nothing. */
function opinionOf(check: ClientCheck, view: View, facts: ClientFacts): Opinion {
  const { error } = view.transcript.end;
  return error === undefined ? check.judge(view, facts) : { kind: 'skip', seen: error };
}

function whySkipped(
  { over }: ClientCheck,
  opinions: readonly { readonly opinion: Opinion }[],
  missing: Partial<Record<Over, string>>,
): string {
  const reasons = new Set(opinions.map(({ opinion }) => opinion.seen));
  if (reasons.size > 0) return sentence([...reasons][0] ?? '');
  const untried = (over ?? (['stdio', 'http'] as const)).flatMap((each) => missing[each] ?? []);
  return sentence(untried[0] ?? 'no server that shows it was tried');
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

/** The part of the record around the entry that shows the finding. */
function excerpt(entries: readonly Entry[], at = entries.length - 1): WireLine[] {
  const began = entries[0]?.at ?? 0;
  const lines: WireLine[] = [];
  let place = 0;
  entries.forEach((entry, index) => {
    const text = inWords(entry);
    if (text === undefined) return;
    if (index <= at) place = lines.length;
    const from = entry.kind === 'in' ? 'client' : entry.kind === 'out' ? 'check' : 'note';
    lines.push({ from, atMs: entry.at - began, text });
  });
  return excerptOf(lines, KEPT, place);
}

function inWords(entry: Entry): string | undefined {
  switch (entry.kind) {
    case 'in':
    case 'out':
      return entry.text.trimEnd() || undefined;
    case 'started':
      return entry.life === 0 ? undefined : 'the client started a server';
    case 'head':
      return `${entry.method} ${entry.path} ${headersInWords(entry.headers)}`;
    case 'status':
      return `answered with HTTP ${entry.status}`;
    case 'hung-up':
      return 'the client closed the response';
    case 'eof':
      return 'the client closed the input of the server';
    case 'signal':
      return `the server got ${entry.signal}`;
    case 'exit':
      return 'the server exited';
    case 'opened':
      return `the client opened ${entry.url} in a browser`;
    case 'stored':
      return `the file ${entry.file} has a token`;
  }
}

/** Only headers that MCP uses. */
function headersInWords(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .filter(([name]) => /^(mcp-|accept$|authorization$|content-type$|last-event-id$|host$)/.test(name))
    .map(([name, value]) => `${name}: ${value}`)
    .join('; ');
}
