import type { Pool } from 'undici';
import type { Clock } from '../../async/clock.js';
import { createDeferred } from '../../async/deferred.js';
import type { ClusterKeys } from '../../cluster/cluster-keys.js';
import type { Member } from '../../cluster/member-list.js';
import type { Members } from '../../cluster/members.js';
import { IsthmusError } from '../../errors.js';
import {
  digestFrame,
  encodeFrame,
  PEER_HEADER,
  type PeerHeader,
  type PeerRequest,
  signHeader,
} from './envelope.js';
import { CallUnderWay, type PeerAnswerSink, type PeerCall } from './peer-call.js';
import type { PeerTls } from './peer-server.js';
import { PeerSilence } from './peer-silence.js';

export interface PeerClientOptions {
  readonly keys: ClusterKeys;
  readonly members: () => Members;
  readonly tls?: PeerTls | undefined;
  readonly clock: Clock;
}

/** Sends requests to other members. */
export class PeerClient {
  readonly #options: PeerClientOptions;
  readonly #undici: typeof import('undici');
  readonly #pools = new Map<string, Pool>();
  readonly #underWay = new Set<CallUnderWay>();
  readonly #silence: PeerSilence;
  /** Members that are gone, and may still answer. */
  readonly #leaving = new Set<string>();
  #sequence = 0;

  static async load(options: PeerClientOptions): Promise<PeerClient> {
    return new PeerClient(options, await import('undici'));
  }

  private constructor(options: PeerClientOptions, undici: typeof import('undici')) {
    this.#options = options;
    this.#undici = undici;
    this.#silence = new PeerSilence({
      clock: options.clock,
      waitingFor: () => [...this.#underWay].flatMap((call) => (call.isWaiting ? [call.to] : [])),
      standingOf: ({ id }) => {
        const members = options.members();
        if (this.#leaving.has(id)) return 'alive';
        return members.isConnected ? members.standingOf(id) : 'unsure';
      },
      isHeard: (member) => this.#isHeard(member),
      giveUp: (member, why) => {
        for (const call of [...this.#underWay])
          if (call.isWaiting && call.to.id === member.id) call.give(why);
      },
    });
  }

  /** Ends connections to members that are gone, and a moment later the requests to them: one that left may still answer. */
  reviewMembers(): void {
    const members = this.#options.members();
    for (const { to } of this.#underWay) {
      if (!this.#leaving.has(to.id) && members.standingOf(to.id) === 'gone') this.#awaitLastAnswers(to);
    }
    const addresses = new Set(members.all.map(({ address }) => address));
    for (const [address, pool] of this.#pools) {
      if (addresses.has(address)) continue;
      this.#pools.delete(address);
      void pool.close().catch(() => {});
    }
  }

  /** A member that ends in order answers each request that has come. Nothing is lost by waiting for that. */
  #awaitLastAnswers(to: Member): void {
    const { members, clock } = this.#options;
    const { state } = members().findPast(to.id) ?? to;
    const ms = state === 'draining' ? LAST_ANSWERS_IN_ORDER_MS : LAST_ANSWERS_MS;
    this.#leaving.add(to.id);
    const endLost = () => {
      this.#leaving.delete(to.id);
      if (members().standingOf(to.id) !== 'gone') return;
      for (const call of [...this.#underWay]) if (call.to.id === to.id) call.give('the member is gone');
    };
    clock.after(ms, endLost, { background: true });
  }

  send(to: Member, request: PeerRequest, body: Uint8Array | undefined, sink: PeerAnswerSink): PeerCall {
    const call = this.#sendThrough(
      () => this.#poolAt(to.address),
      to,
      request,
      body,
      sink,
      () => this.#underWay.delete(call),
    );
    this.#underWay.add(call);
    call.begin();
    this.#silence.begin();
    return call;
  }

  #sendThrough(
    pool: () => Pool,
    to: Member,
    request: PeerRequest,
    body: Uint8Array | undefined,
    sink: PeerAnswerSink,
    onOver: () => void,
  ): CallUnderWay {
    const { keys, members } = this.#options;
    const frame = encodeFrame(request, body);
    this.#sequence += 1;
    const header: PeerHeader = {
      from: members().self,
      to: to.id,
      sequence: this.#sequence,
      time: Math.round(members().now),
      length: frame.length,
      digest: digestFrame(frame),
    };
    const headers = { [PEER_HEADER]: signHeader(keys, header), 'content-length': String(frame.length) };
    const call: CallUnderWay = new CallUnderWay(to, header, keys, sink, {
      dispatch: () => void pool().dispatch({ path: '/', method: 'POST', headers, body: frame }, call),
      onOver,
    });
    return call;
  }

  /** Asks another member for a whole answer, within a time. */
  ask(to: Member, request: PeerRequest, timeoutMs: number): Promise<{ status: number; body: Buffer }> {
    const { promise, resolve, reject } = createDeferred<{ status: number; body: Buffer }>();
    const chunks: Buffer[] = [];
    let status = 0;
    const call = this.send(to, request, undefined, {
      begin(given) {
        status = given;
      },
      data: (chunk) => chunks.push(chunk) > 0,
      end: () => resolve({ status, body: Buffer.concat(chunks) }),
      failed({ kind, why }) {
        const code = kind === 'not-here' ? 'REFUSED_BY_PEER' : 'ADDRESS_UNAVAILABLE';
        reject(new IsthmusError(code, `${to.id} did not answer: ${why}`));
      },
    });
    const callOff = this.#options.clock.after(timeoutMs, () => {
      call.abort();
      reject(new IsthmusError('TIMED_OUT', `${to.id} did not answer within ${timeoutMs} ms`));
    });
    return promise.finally(callOff);
  }

  /** Whether a member answers at all. A new connection, since an old one may lead to a machine that has vanished. */
  async #isHeard(member: Member): Promise<boolean> {
    const heard = createDeferred<boolean>();
    const pool = this.#openPool(member.address);
    const request = { service: '', method: 'GET', target: '/', headers: {}, caller: {} };
    const sink: PeerAnswerSink = {
      begin: () => heard.resolve(true),
      data: () => true,
      end() {},
      // It has no such service, and has said so.
      failed: ({ kind }) => heard.resolve(kind === 'not-here'),
    };
    const call = this.#sendThrough(
      () => pool,
      member,
      request,
      undefined,
      sink,
      () => {},
    );
    call.begin();
    const callOff = this.#options.clock.after(HEARD_MS, () => heard.resolve(false), { background: true });
    const isHeard = await heard.promise;
    callOff();
    call.abort();
    void pool.destroy().catch(() => {});
    return isHeard;
  }

  async close(): Promise<void> {
    this.#silence.close();
    for (const call of [...this.#underWay]) call.give('this member leaves the cluster');
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.destroy().catch(() => {})));
  }

  #poolAt(address: string): Pool {
    const known = this.#pools.get(address);
    if (known) return known;
    const pool = this.#openPool(address);
    this.#pools.set(address, pool);
    return pool;
  }

  #openPool(address: string): Pool {
    const { tls } = this.#options;
    return new this.#undici.Pool(address, {
      connect: {
        timeout: CONNECT_MS,
        // The authority is that of the cluster. Its members have no names.
        ...(tls && { ...tls, checkServerIdentity: () => undefined }),
      },
      // Streams may be silent for hours. The members say who is alive.
      headersTimeout: 0,
      bodyTimeout: 0,
      pipelining: 1,
    });
  }
}

/** A member on the same network answers at once, or not at all. */
const CONNECT_MS = 1000;
/** How long a member may take for a sign of life. */
const HEARD_MS = 1500;
/** How long a member that has vanished may take for its last answers. */
const LAST_ANSWERS_MS = 500;
/** The same for one that has drained and left. It lives, and this machine or that one may be busy. */
const LAST_ANSWERS_IN_ORDER_MS = 5000;
