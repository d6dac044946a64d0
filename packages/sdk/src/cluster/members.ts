import type { Clock } from '../async/clock.js';
import { messageOf } from '../errors.js';
import type { ClusterKeys } from './cluster-keys.js';
import { type Member, type MemberFacts, MemberList } from './member-list.js';
import { newMemberId } from './session-id.js';
import type { BeatAnswer, ClusterStore } from './store.js';

export interface MembersOptions {
  readonly store: ClusterStore;
  readonly keys: ClusterKeys;
  readonly clock: Clock;
  readonly facts: Omit<MemberFacts, 'formerly' | 'startedAt'>;
}

/**
 * The members of the cluster, as this one knows them. Each member beats once a second. A member is gone when it was
 * silent for five seconds, when it left, or when another one has fenced it. No other member is gone while this one cannot
 * reach the store, nor for five seconds after that: then the others may just have had no chance to beat. One that has said
 * that it leaves is gone at once.
 */
export class Members {
  readonly #options: MembersOptions;
  readonly #onChange = new Set<() => void>();
  readonly #onDoubt = new Set<() => void>();
  #self = newMemberId();
  #facts: MemberFacts;
  /** The facts that the store has of this member. */
  #told: MemberFacts | undefined;
  readonly #list: MemberList;
  /** Those that were declared dead by this one, the newest last. */
  readonly #fenced = new Set<string>();
  #beating: Promise<boolean> | undefined;
  /** By how much the clock of the store is ahead of the clock of this process. */
  #aheadMs: number | undefined;
  #lastBeatAt = Number.NEGATIVE_INFINITY;
  #isDown = true;
  /** When the store was lost the last time. */
  #downSince = Number.NEGATIVE_INFINITY;
  #problem: string | undefined;
  #trustedFrom = Number.POSITIVE_INFINITY;
  #stopTimer: () => void = () => {};
  #unsubscribe: () => void = () => {};
  #hasJoined = false;
  #hasLeft = false;

  constructor(options: MembersOptions) {
    this.#options = options;
    this.#list = new MemberList(options.keys);
    this.#facts = { ...options.facts, startedAt: options.clock.now(), formerly: [] };
  }

  /** The id of this member. Another one after it was fenced. */
  get self(): string {
    return this.#self;
  }

  get own(): Member {
    return { id: this.#self, ...this.#facts };
  }

  /** This one is about to leave: others serve new clients. */
  get isDraining(): boolean {
    return this.#facts.state === 'draining';
  }

  /**
   * The time of the cluster, in milliseconds since 1970. It is that of the store, since the clocks of machines can differ
   * by minutes.
   */
  get now(): number {
    return this.#options.clock.now() + (this.#aheadMs ?? 0);
  }

  /** All that live, this one included. */
  get all(): readonly Member[] {
    return this.#list.all;
  }

  /** Those whose facts this member cannot open: they have another secret. They are not members. */
  get strangers(): readonly string[] {
    return this.#list.strangers;
  }

  /** Whether the store answers. */
  get isConnected(): boolean {
    return !this.#isDown;
  }

  /** Why the store did not answer the last time, until it answers again. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Joins the cluster. False: the store could not be reached; joining goes on in the background. */
  async join(): Promise<boolean> {
    const { store } = this.#options;
    this.#unsubscribe = store.subscribe(
      MEMBERS_CHANNEL,
      (value) => this.#hear(value),
      () => void this.refresh(),
    );
    const joined = await this.refresh();
    this.#schedule();
    return joined;
  }

  find(id: string): Member | undefined {
    return this.#list.find(id);
  }

  /** A member that is gone. It may still work, if only the store has lost it. */
  findPast(id: string): Member | undefined {
    return this.#list.findPast(id);
  }

  isSelf(id: string): boolean {
    return id === this.#self || this.#facts.formerly.includes(id);
  }

  /** `unsure`: the store cannot be asked at the moment, or could not a moment ago. */
  standingOf(id: string): 'alive' | 'gone' | 'unsure' {
    if (this.isSelf(id) || this.find(id)) return 'alive';
    if (this.#list.hasLeft(id)) return 'gone';
    return this.isUnsure ? 'unsure' : 'gone';
  }

  /** The store cannot be asked at the moment, or could not a moment ago, or has forgotten what it knew. */
  get isUnsure(): boolean {
    return this.#isDown || this.#isTooEarly;
  }

  /**
   * The store can be asked, or was lost a moment ago. A process that was stopped for a while has to connect to it again,
   * which takes a moment. An outage takes longer.
   */
  get mayReachStoreSoon(): boolean {
    const downMs = this.#options.clock.now() - this.#downSince;
    return !this.#isDown || (downMs >= 0 && downMs < MOMENT_MS);
  }

  /** Whether the store was away until a moment ago. A clock that was set back does not make that moment longer. */
  get #isTooEarly(): boolean {
    const leftMs = this.#trustedFrom - this.#options.clock.now();
    return leftMs > 0 && leftMs <= TTL_MS;
  }

  /** The same after a fresh look: a member that has just come is not gone. */
  async review(id: string): Promise<'alive' | 'gone' | 'unsure'> {
    const standing = this.standingOf(id);
    if (standing === 'alive') return standing;
    await this.refresh();
    return this.standingOf(id);
  }

  /**
   * Undefined while this member knows that the others take it for alive. Otherwise (it was stopped for a while) a promise
   * that settles when it has asked, or when the store does not answer.
   */
  confirm(): Promise<unknown> | undefined {
    const silentMs = this.#options.clock.now() - this.#lastBeatAt;
    return silentMs >= 0 && silentMs < TTL_MS ? undefined : this.refresh();
  }

  /** Beats now. False: the store did not answer. */
  refresh(): Promise<boolean> {
    this.#beating ??= this.#beat().finally(() => {
      this.#beating = undefined;
    });
    return this.#beating;
  }

  /**
   * Declares a member dead, whose address refuses connections. False: it is not certain enough. A member that lived on after
   * it was fenced from here has an address that is wrong, or behind a firewall. It is not fenced again and again.
   */
  async fence(id: string): Promise<boolean> {
    if (this.isSelf(id) || this.standingOf(id) === 'unsure') return false;
    const member = this.find(id);
    if (member?.formerly.some((former) => this.#fenced.has(former))) return false;
    const real = member?.id ?? id;
    try {
      await this.#options.store.fence(real);
    } catch {
      return false;
    }
    this.#fenced.add(real);
    if (this.#fenced.size > MAX_FENCED) this.#fenced.delete(this.#fenced.values().next().value!);
    this.#list.forget(real);
    this.#changed();
    this.#announce();
    return true;
  }

  /** Tells the others something else of this member. */
  async say(facts: Partial<Omit<MemberFacts, 'formerly'>>): Promise<void> {
    this.#facts = { ...this.#facts, ...facts };
    if (!this.#hasJoined) return;
    // A beat that is under way has the old facts.
    await this.#beating;
    if (await this.refresh()) this.#announce();
  }

  /** Called when members have come, gone or changed. */
  onChange(callback: () => void): () => void {
    this.#onChange.add(callback);
    return () => this.#onChange.delete(callback);
  }

  /** Called when others may have taken over what this member owns: it was fenced, or was silent for too long. */
  onDoubt(callback: () => void): void {
    this.#onDoubt.add(callback);
  }

  /** False: the others cannot be told at the moment, and find out by themselves. */
  async leave(): Promise<boolean> {
    if (this.#hasLeft) return false;
    this.#hasLeft = true;
    this.#stopTimer();
    this.#unsubscribe();
    await this.#beating;
    const isTold = (await this.#tellLeaving()) || (await this.#tellLeaving());
    if (isTold) this.#announce(this.#list.sealLeaving([this.#self, ...this.#facts.formerly]));
    return isTold;
  }

  async #tellLeaving(): Promise<boolean> {
    return this.#options.store.leave(this.#self).then(
      () => true,
      () => false,
    );
  }

  #schedule(): void {
    if (this.#hasLeft) return;
    this.#stopTimer = this.#options.clock.after(
      BEAT_EVERY_MS,
      () => void this.refresh().finally(() => this.#schedule()),
      { background: true },
    );
  }

  async #beat(): Promise<boolean> {
    if (this.#hasLeft) return false;
    const { clock } = this.#options;
    const sentAt = clock.now();
    let answer: BeatAnswer;
    try {
      if (this.#aheadMs === undefined) await this.#learnTime();
      const told = this.#told === this.#facts;
      answer = await this.#send();
      if (answer.isFenced) {
        this.#facts = { ...this.#facts, formerly: [...this.#facts.formerly, this.#self].slice(-MAX_FORMER) };
        this.#self = newMemberId();
        answer = await this.#send(true);
      } else if (!answer.wasKnown && told) answer = await this.#send(true);
    } catch (error) {
      if (!this.#isDown) this.#downSince = clock.now();
      this.#isDown = true;
      this.#problem = messageOf(error);
      return false;
    }
    this.#problem = undefined;
    const wasSilent = sentAt - this.#lastBeatAt >= TTL_MS || !answer.wasKnown;
    const isFirst = !this.#hasJoined;
    // A store that has forgotten this member may have forgotten the others, too. They will beat again.
    if ((this.#isDown || !answer.wasKnown) && !isFirst) this.#trustedFrom = sentAt + TTL_MS;
    if (isFirst) this.#trustedFrom = sentAt;
    this.#isDown = false;
    this.#hasJoined = true;
    this.#lastBeatAt = sentAt;
    // Those who were there may have had no chance to beat since the store was away, or has forgotten them.
    const isKept = (id: string) => this.#isTooEarly && !this.isSelf(id);
    if (this.#list.take(answer.members, isKept)) this.#changed();
    if (isFirst) this.#announce();
    else if (wasSilent) for (const callback of [...this.#onDoubt]) callback();
    return true;
  }

  /** Its first beat announces nothing: what a member says of itself has the time of the store. */
  async #learnTime(): Promise<void> {
    await this.#tell(undefined);
    this.#facts = { ...this.#facts, startedAt: Math.round(this.now) };
  }

  async #tell(facts: Uint8Array | undefined): Promise<BeatAnswer> {
    const { store, clock } = this.#options;
    const sentAt = clock.now();
    const answer = await store.beat({ member: this.#self, facts, ttlMs: TTL_MS });
    this.#aheadMs = answer.now - (sentAt + clock.now()) / 2;
    return answer;
  }

  async #send(again = false): Promise<BeatAnswer> {
    const { keys } = this.#options;
    // They can change while the store works.
    const own = this.#facts;
    const isNews = again || this.#told !== own;
    const facts = isNews
      ? keys.sealer('member', this.#self).seal(Buffer.from(JSON.stringify(own)))
      : undefined;
    const answer = await this.#tell(facts);
    if (!answer.isFenced) this.#told = own;
    return answer;
  }

  #changed(): void {
    for (const callback of [...this.#onChange]) callback();
  }

  /** The others look at once, and not with their next beat. */
  #announce(value: Uint8Array = Buffer.from(this.#self)): void {
    this.#options.store.publish(MEMBERS_CHANNEL, value).catch(() => {});
  }

  /** A member that says that it leaves is gone, also where the store is not believed yet. */
  #hear(value: Uint8Array): void {
    if (this.#list.takeLeaving(value)) this.#changed();
    void this.refresh();
  }
}

/** Whatever is published here, members look at once who is there. */
export const MEMBERS_CHANNEL = 'members';
const BEAT_EVERY_MS = 1000;
/** A member that was silent for this long is gone. */
export const TTL_MS = 5000;
/** A connection to the store is there again within this time, if the store is. */
const MOMENT_MS = 2000;
const MAX_FORMER = 8;
const MAX_FENCED = 100;
