import type { Cluster } from '@isthmus/sdk/internal/cluster/cluster.js';
import type { Member } from '@isthmus/sdk/internal/cluster/members.js';
import { messageOf } from '@isthmus/sdk/internal/errors.js';
import type { PeerExchange } from '@isthmus/sdk/internal/transport/peers/peer-exchange.js';
import { peersOf } from '@isthmus/sdk/internal/transport/peers/peers.js';
import { decodeError, encodeError } from '../control/protocol.js';

/** What an operator can ask of all processes of a cluster at once. */
export type MemberAction = 'status' | 'reload' | 'restart' | 'stop' | 'start';

export interface MemberRequest {
  readonly action: MemberAction;
  /** The server, for `restart`, `stop` and `start`. */
  readonly server?: string | undefined;
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

/** Asks all processes of a cluster, and answers for this one when another process asks. */
export class MemberDesk {
  readonly #cluster: Cluster;
  readonly #perform: (request: MemberRequest) => Promise<unknown>;
  readonly #now: () => number;
  readonly #stops: (() => void)[];
  /** The members that were there lately, and when each was seen last. */
  readonly #seen = new Map<string, { readonly member: Member; at: number }>();

  /** `perform` does what is asked in this process. */
  constructor(cluster: Cluster, perform: (request: MemberRequest) => Promise<unknown>, now: () => number) {
    this.#cluster = cluster;
    this.#perform = perform;
    this.#now = now;
    this.#note();
    this.#stops = [
      cluster.members.onChange(() => this.#note()),
      peersOf(cluster).server.handle(SERVICE, (exchange) => void this.#answer(exchange)),
    ];
  }

  /** In the order of their starts. A member that has vanished within the last minute is in the answers, too. */
  async askAll(request: MemberRequest): Promise<readonly MemberAnswer[]> {
    this.#note();
    const { members } = this.#cluster;
    const present = [...members.all].sort((a, b) => a.startedAt - b.startedAt);
    const answers = await Promise.all(present.map((member) => this.#ask(member, request)));
    return [...answers, ...this.#missing()];
  }

  close(): void {
    for (const stop of this.#stops) stop();
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
    const target = `/${JSON.stringify(request)}`;
    const limitMs = request.action === 'status' ? STATUS_MS : ACTION_MS;
    const { client } = peersOf(this.#cluster);
    const asked = { service: SERVICE, method: 'POST', target, headers: {}, caller: {} };
    const { status, body } = await client.ask(member, asked, limitMs);
    const answer: unknown = body.length > 0 ? JSON.parse(body.toString()) : undefined;
    if (status !== 200) throw decodeError(answer);
    return answer;
  }

  /** Another process asks. It has proven that it is a member. */
  async #answer(exchange: PeerExchange): Promise<void> {
    try {
      const answer = await this.#perform(JSON.parse(exchange.target.slice(1)) as MemberRequest);
      exchange.respond(200, JSON_HEADERS, answer === undefined ? '' : JSON.stringify(answer));
    } catch (error) {
      const { status, body } = encodeError(error);
      exchange.respond(status, JSON_HEADERS, body);
    }
  }

  #note(): void {
    const at = this.#now();
    for (const member of this.#cluster.members.all) this.#seen.set(member.id, { member, at });
    for (const [id, { at: seenAt }] of this.#seen) if (at - seenAt > MISSED_MS) this.#seen.delete(id);
  }

  /** A member that drained has left as it was told to. One that has another id by now lives. */
  #missing(): readonly MemberAnswer[] {
    const { members } = this.#cluster;
    return [...this.#seen.values()]
      .filter(({ member: { id, state } }) => state === 'ready' && !members.isSelf(id) && !members.find(id))
      .map(({ member: { id, host } }) => ({
        ...{ replica: id, host, state: 'missing' as const },
        problem: 'it was there within the last minute, and is gone',
      }));
  }
}

const SERVICE = 'control';
const JSON_HEADERS = { 'content-type': 'application/json' };
/** How long each process may take for its answer. */
const STATUS_MS = 2000;
/** Running calls finish first. */
const ACTION_MS = 60_000;
const MISSED_MS = 60_000;
