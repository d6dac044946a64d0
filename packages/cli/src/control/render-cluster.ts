import type { MemberAnswer } from '@isthmus/gateway/internal/cluster/cluster-control.js';
import { isSameDefinition } from '@isthmus/gateway/internal/cluster/definition-digest.js';
import type { GatewayStatus } from '@isthmus/gateway/internal/server-state.js';
import { table } from '../terminal/table.js';
import type { Terminal } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';
import { describeDuration } from './render-server.js';

type Look = Pick<Terminal, 'width' | 'out'>;

/** What is wrong with a cluster, a sentence each. Empty: nothing. Pure. */
export function problemsOf(answers: readonly MemberAnswer[]): readonly string[] {
  const problems = answers.flatMap(({ replica, problem }) =>
    problem === undefined ? [] : [`${oneLine(replica)}: ${oneLine(problem)}.`],
  );
  const all = answers.flatMap((each) => statusOf(each) ?? []);
  for (const { cluster, ready } of all) {
    if (cluster?.store.up === false) {
      problems.push(
        `${cluster.replica}: ${hasRedis(cluster) ? 'Redis' : 'the store of the parent process'} does not answer.`,
      );
    }
    if (!ready) problems.push(`${cluster?.replica}: not ready; isthmus status shows its servers.`);
  }
  for (const stranger of new Set(all.flatMap(({ cluster }) => cluster?.strangers ?? []))) {
    problems.push(`${oneLine(stranger)}: has another secret, so it does not belong to this cluster.`);
  }
  for (const [name, replicas] of differing(all)) {
    problems.push(`${oneLine(name)}: ${replicas.join(', ')} has another definition than most.`);
  }
  return problems;
}

/** A row for each process, a row for each server, and what is wrong. */
export function renderCluster(answers: readonly MemberAnswer[], { width, out }: Look, now: number): string {
  const all = answers.flatMap((each) => statusOf(each) ?? []);
  const head = [...MEMBER_HEAD, all.every(({ cluster }) => hasRedis(cluster)) ? 'redis' : 'store'];
  const members = table([head, ...answers.map((each) => memberRow(each, now))], { width });
  const names = [...new Set(all.flatMap(({ servers }) => Object.keys(servers)))];
  const servers = names.map((name) => serverRow(name, all));
  const problems = problemsOf(answers);
  return [
    members.trimEnd(),
    '',
    ...(servers.length > 0 ? [table([SERVER_HEAD, ...servers], { width }).trimEnd(), ''] : []),
    ...problems.map((problem) => out.red(problem)),
    ...(problems.length === 0 ? [out.green(`Everything is ok: ${answers.length} processes.`)] : []),
    '',
  ].join('\n');
}

const MEMBER_HEAD = ['replica', 'host', 'version', 'state', 'up', 'sessions', 'handed on', 'taken over'];
const SERVER_HEAD = ['server', 'home', 'placement', 'ready', 'processes', 'calls'];

function memberRow(member: MemberAnswer, now: number): string[] {
  const { replica, host, state } = member;
  const { version = '', startedAt, cluster } = statusOf(member) ?? {};
  const up = startedAt === undefined ? '' : describeDuration(now - Date.parse(startedAt));
  const { sessions = '', handedOn = '', adopted = '', store } = cluster ?? {};
  const latency = store?.latencyMs === undefined ? '' : `${store.latencyMs} ms`;
  const answers = store === undefined ? '' : store.up ? latency : 'away';
  const facts = [version, state, up, sessions, handedOn, adopted, answers];
  return [oneLine(replica), oneLine(host), ...facts.map((fact) => oneLine(String(fact)))];
}

function serverRow(name: string, all: readonly GatewayStatus[]): string[] {
  const here = all.flatMap(({ servers }) => servers[name] ?? []);
  const ready = here.filter(({ state }) => state === 'ready' || state === 'asleep').length;
  const sum = (count: (processes: NonNullable<(typeof here)[number]['processes']>) => number) =>
    here.reduce((total, { processes }) => total + (processes ? count(processes) : 0), 0);
  const living = sum(({ processes }) => processes.filter(({ pid }) => pid !== undefined).length);
  return [
    oneLine(name),
    ...placeOf(name, all),
    `${ready} of ${all.length}`,
    String(living),
    String(sum(({ inFlight }) => inFlight)),
  ];
}

/** Where the processes of a server are. Members with different definitions have different homes. */
function placeOf(name: string, all: readonly GatewayStatus[]): readonly [home: string, placement: string] {
  const found = all.flatMap(({ cluster }) => cluster?.placements?.[name] ?? []);
  const homes = found.map(({ placement, seat, home = `by ${seat}` }) =>
    placement === 'local' ? 'each' : home,
  );
  const unique = (words: readonly string[]) => oneLine([...new Set(words)].join(', '));
  return [unique(homes), unique(found.map(({ placement }) => placement))];
}

/** The servers that are not the same everywhere, each with the processes that differ from most. */
function differing(all: readonly GatewayStatus[]): readonly (readonly [string, readonly string[]])[] {
  const clusters = all.flatMap(({ cluster }) => cluster ?? []);
  const names = new Set(clusters.flatMap(({ definitions }) => Object.keys(definitions)));
  return [...names].flatMap((name) => {
    const digests = clusters.map(({ definitions }) => definitions[name]);
    const usual = mostFrequent(digests);
    const others = clusters
      .filter((_, at) => !isSameDefinition(digests[at], usual))
      .map(({ replica }) => replica);
    return others.length > 0 ? [[name, others] as const] : [];
  });
}

function mostFrequent(values: readonly (string | undefined)[]): string | undefined {
  const count = (value: string | undefined) => values.filter((each) => isSameDefinition(each, value)).length;
  return [...values].sort((a, b) => count(b) - count(a))[0];
}

/** Processes of an earlier version do not say it. */
function hasRedis(cluster: GatewayStatus['cluster']): boolean {
  return cluster?.store.kind !== 'given';
}

/** Processes of another version may answer otherwise. */
function statusOf({ answer }: MemberAnswer): GatewayStatus | undefined {
  const status = answer as GatewayStatus | undefined;
  return typeof status?.servers === 'object' ? status : undefined;
}
