import type { Clock } from '../../async/clock.js';
import type { Member } from '../../cluster/member-list.js';

export interface PeerSilenceOptions {
  readonly clock: Clock;
  /** The members that have not begun to answer a request. */
  waitingFor(): Iterable<Member>;
  /** `unsure`: the store cannot say it at the moment. */
  standingOf(member: Member): 'alive' | 'gone' | 'unsure';
  /** Whether the member answers a new request, over a new connection. */
  isHeard(member: Member): Promise<boolean>;
  /** The member is not waited for any longer. */
  giveUp(member: Member, why: string): void;
}

/**
 * Bounds the wait for the first byte of an answer of another member. A connection to a machine that has vanished says
 * nothing, for a quarter of an hour. A member that beats is waited for as long as it likes: a call may take hours. Where
 * the store cannot say who beats, the member is asked over another connection.
 */
export class PeerSilence {
  readonly #options: PeerSilenceOptions;
  /** How many looks in a row have found each member silent. */
  readonly #silent = new Map<string, number>();
  #stopLooking: (() => void) | undefined;

  constructor(options: PeerSilenceOptions) {
    this.#options = options;
  }

  /** A request was sent. */
  begin(): void {
    this.#stopLooking ??= this.#options.clock.after(LOOK_EVERY_MS, () => this.#look(), { background: true });
  }

  close(): void {
    this.#stopLooking?.();
  }

  #look(): void {
    this.#stopLooking = undefined;
    const { waitingFor, standingOf, isHeard } = this.#options;
    const members = new Map([...waitingFor()].map((member) => [member.id, member]));
    for (const id of this.#silent.keys()) if (!members.has(id)) this.#silent.delete(id);
    if (members.size === 0) return;
    this.begin();
    for (const member of members.values()) {
      const standing = standingOf(member);
      if (standing === 'alive') this.#silent.delete(member.id);
      else if (standing === 'gone') this.#wasSilent(member, GONE_LOOKS, 'the member is gone');
      else {
        void isHeard(member).then((heard) => {
          if (heard) this.#silent.delete(member.id);
          else this.#wasSilent(member, SILENT_LOOKS, 'the member shows no sign of life');
        });
      }
    }
  }

  #wasSilent(member: Member, bound: number, why: string): void {
    const looks = (this.#silent.get(member.id) ?? 0) + 1;
    this.#silent.set(member.id, looks);
    if (looks < bound) return;
    this.#silent.delete(member.id);
    this.#options.giveUp(member, why);
  }
}

const LOOK_EVERY_MS = 2000;
/** A member that has left may still answer. */
const GONE_LOOKS = 2;
/** As long as a request waits for the owner of its session: eight seconds. */
const SILENT_LOOKS = 4;
