import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { Cluster } from '@isthmus/sdk/internal/cluster/cluster.js';
import type { Member } from '@isthmus/sdk/internal/cluster/member-list.js';
import { messageOf } from '@isthmus/sdk/internal/errors.js';
import type { PeerRequest } from '@isthmus/sdk/internal/transport/peers/envelope.js';
import type { PeerExchange } from '@isthmus/sdk/internal/transport/peers/peer-exchange.js';
import { peersOf } from '@isthmus/sdk/internal/transport/peers/peers.js';
import { type Controlled, decodeError, encodeError, type LogsOptions } from '../control/protocol.js';
import type { LogLine } from '../log-tail.js';
import { type LogSource, mergeLogs } from '../merge-logs.js';
import { linesOfMember, sendLines } from './member-logs.js';
import { MemberSwitches, type Switch } from './member-switches.js';
import { MemberWatch } from './member-watch.js';

/** What an operator can ask of all processes of a cluster at once. */
export interface OperatorRequest {
  readonly action: 'status' | 'reload' | 'restart' | 'stop' | 'start';
  /** The server, for `restart`, `stop` and `start`. */
  readonly server?: string | undefined;
}

/** What one process asks of another. */
interface MemberRequest extends Partial<LogsOptions> {
  readonly action: OperatorRequest['action'] | 'logs' | 'switches';
  readonly server?: string | undefined;
  /** When the operator asked, for `stop` and `start`, by the clock of the store. */
  readonly at?: number;
  readonly switches?: readonly Switch[];
}

/** What one process of the cluster said. */
export interface MemberAnswer {
  readonly replica: string;
  readonly host: string;
  readonly state: 'ready' | 'draining' | 'missing';
  readonly answer?: unknown;
  /** Why there is no answer, or that the request failed there. */
  readonly problem?: string | undefined;
}

export interface ClusterControlOptions {
  readonly cluster: Cluster;
  /** Does what is asked in this process. */
  perform(request: OperatorRequest): Promise<unknown>;
  /** This process. */
  readonly controlled: Pick<Controlled, 'logs' | 'stop' | 'start'>;
  readonly warn: (line: string) => void;
  readonly clock: Clock;
}

/** Asks all processes of a cluster, and answers for this one when another process asks. */
export class ClusterControl {
  readonly #options: ClusterControlOptions;
  readonly #cluster: Cluster;
  readonly #stop: () => void;
  readonly #switches = new MemberSwitches();
  readonly #watch: MemberWatch;

  constructor(options: ClusterControlOptions) {
    const { cluster } = options;
    this.#options = options;
    this.#cluster = cluster;
    this.#stop = peersOf(cluster).server.handle(SERVICE, (exchange) => void this.#answer(exchange));
    const greet = (member: Member) =>
      this.#askOther(member, { action: 'switches', switches: this.#switches.all });
    this.#watch = new MemberWatch({ ...options, greet });
  }

  /** In the order of their starts. A member that has vanished within the last minute is in the answers, too. */
  async askAll(asked: OperatorRequest): Promise<readonly MemberAnswer[]> {
    this.#watch.look();
    const isSwitch = asked.action === 'stop' || asked.action === 'start';
    const { members } = this.#cluster;
    const request: MemberRequest = isSwitch
      ? { ...asked, at: this.#switches.timeFor(asked.server, members.now) }
      : asked;
    const present = [...members.all].sort((a, b) => a.startedAt - b.startedAt);
    const answers = await Promise.all(present.map((member) => this.#ask(member, request)));
    const missing = this.#watch.missing().map(({ id: replica, host }) => ({
      ...{ replica, host, state: 'missing' as const },
      problem: 'it was there within the last minute, and is gone',
    }));
    return [...answers, ...missing];
  }

  /** The lines of all processes. One that cannot be asked has a line that says why. */
  logs(name: string | undefined, options: LogsOptions, signal: AbortSignal): AsyncIterable<LogLine> {
    const { controlled, clock } = this.#options;
    const { members } = this.#cluster;
    const sources = members.all.map((member): LogSource => {
      const read = (wanted: LogsOptions) =>
        members.isSelf(member.id)
          ? controlled.logs(name, wanted, signal)
          : this.#logsOf(member, { action: 'logs', server: name, ...wanted }, signal);
      return async function* (wanted) {
        try {
          for await (const line of read(wanted)) yield { ...line, replica: member.id };
        } catch (error) {
          const text = `the lines of ${member.id} on ${member.host} cannot be read: ${messageOf(error)}`;
          const line = { server: name ?? 'cluster', source: 'gateway' as const, level: 'error', text };
          yield { ...line, at: clock.now(), replica: member.id };
        }
      };
    });
    return mergeLogs(sources, options, signal);
  }

  close(): void {
    this.#watch.close();
    this.#stop();
  }

  async #ask(member: Member, request: MemberRequest): Promise<MemberAnswer> {
    const { id: replica, host, state } = member;
    try {
      const answer = this.#cluster.members.isSelf(replica)
        ? await this.#perform(request)
        : await this.#askOther(member, request);
      return { replica, host, state, ...(answer !== undefined && { answer }) };
    } catch (error) {
      return { replica, host, state, problem: messageOf(error) };
    }
  }

  async #askOther(member: Member, request: MemberRequest): Promise<unknown> {
    const isQuick = request.action === 'status' || request.action === 'switches';
    const limitMs = isQuick ? STATUS_MS : ACTION_MS;
    const { client } = peersOf(this.#cluster);
    const { status, body } = await client.ask(member, toPeerRequest(request), limitMs);
    const answer: unknown = body.length > 0 ? JSON.parse(body.toString()) : undefined;
    if (status !== 200) throw decodeError(answer);
    return answer;
  }

  #logsOf(member: Member, request: MemberRequest, signal: AbortSignal): AsyncIterable<LogLine> {
    const { client } = peersOf(this.#cluster);
    const call = { client, member, request: toPeerRequest(request), headMs: STATUS_MS };
    return linesOfMember(call, this.#options.clock, signal);
  }

  /** Another process asks. It has proven that it is a member. */
  async #answer(exchange: PeerExchange): Promise<void> {
    try {
      const request = JSON.parse(exchange.target.slice(1)) as MemberRequest;
      if (request.action === 'logs') return await this.#sendLogs(request, exchange);
      const answer = await this.#perform(request);
      exchange.respond(200, JSON_HEADERS, answer === undefined ? '' : JSON.stringify(answer));
    } catch (error) {
      const { status, body } = encodeError(error);
      exchange.respond(status, JSON_HEADERS, body);
    }
  }

  async #sendLogs(
    { server, lines = 0, follow = false }: MemberRequest,
    exchange: PeerExchange,
  ): Promise<void> {
    const gone = new AbortController();
    exchange.onGone(() => gone.abort());
    const found = this.#options.controlled.logs(server, { lines, follow }, gone.signal);
    const stream = exchange.stream(200, { 'content-type': 'application/x-ndjson' });
    await sendLines(found, stream, gone.signal).catch(() => stream.cut());
  }

  async #perform(request: MemberRequest): Promise<unknown> {
    const { action, server, at, switches } = request;
    if (action === 'switches') {
      // Running calls finish first, and the other process does not wait for that.
      void this.#catchUp(switches ?? []);
      return undefined;
    }
    if (action === 'logs') return undefined;
    if ((action === 'stop' || action === 'start') && server !== undefined && at !== undefined) {
      this.#switches.note({ server, isOff: action === 'stop', at });
    }
    return this.#options.perform({ action, server });
  }

  /** Does what an operator has asked of all processes before this one came. */
  async #catchUp(switches: readonly Switch[]): Promise<void> {
    const { controlled, warn } = this.#options;
    for (const each of switches) {
      const { server, isOff } = each;
      const wasOff = this.#switches.isOff(server);
      if (!this.#switches.note(each) || isOff === wasOff) continue;
      try {
        if (isOff) await controlled.stop(server);
        else await controlled.start(server);
        if (isOff) warn(`${server} is off, because of an earlier isthmus stop --all`);
      } catch (error) {
        warn(`${server} could not be switched as in the other processes: ${messageOf(error)}`);
      }
    }
  }
}

function toPeerRequest(request: MemberRequest): PeerRequest {
  const target = `/${JSON.stringify(request)}`;
  return { service: SERVICE, method: 'POST', target, headers: {}, caller: {} };
}

const SERVICE = 'control';
const JSON_HEADERS = { 'content-type': 'application/json' };
/** How long each process may take for its answer. */
const STATUS_MS = 2000;
/** Running calls finish first. */
const ACTION_MS = 60_000;
