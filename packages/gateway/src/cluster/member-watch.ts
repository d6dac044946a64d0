import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { Cluster } from '@isthmus/sdk/internal/cluster/cluster.js';
import type { Member } from '@isthmus/sdk/internal/cluster/member-list.js';
import { IsthmusError, messageOf } from '@isthmus/sdk/internal/errors.js';
import { isSameDefinition } from './definition-digest.js';

export interface MemberWatchOptions {
  readonly cluster: Pick<Cluster, 'members' | 'name'>;
  /** Says something to another process. Rejects when it cannot be reached, or does not do this yet. */
  greet(member: Member): Promise<unknown>;
  readonly warn: (line: string) => void;
  readonly clock: Clock;
}

/** Greets each process of the cluster that comes, and tells the operator what is wrong with it. */
export class MemberWatch {
  readonly #options: MemberWatchOptions;
  /** Those that are there, and those that have gone within the last minute. */
  readonly #seen = new Map<string, SeenMember>();
  /** What was said already. */
  readonly #said = new Set<string>();
  readonly #stop: () => void;
  #isClosed = false;

  constructor(options: MemberWatchOptions) {
    this.#options = options;
    this.#stop = options.cluster.members.onChange(() => this.look());
    this.look();
  }

  look(): void {
    const { clock, cluster } = this.#options;
    const at = clock.now();
    for (const member of cluster.members.all) {
      const isNew = !this.#seen.has(member.id);
      this.#seen.set(member.id, { member });
      if (cluster.members.isSelf(member.id)) continue;
      if (isNew) void this.#greet(member, 0);
      this.#compare(member);
    }
    for (const id of cluster.members.strangers)
      this.#say(`${id} ${WRONG_SECRET}`, describeStranger(id, cluster.name));
    for (const [id, seen] of this.#seen) {
      if (cluster.members.find(id)) continue;
      seen.goneAt ??= at;
      if (at - seen.goneAt > MISSED_MS) this.#seen.delete(id);
    }
  }

  /** Those that vanished within the last minute. A member that drained has left as it was told to. */
  missing(): readonly Member[] {
    const { members } = this.#options.cluster;
    return [...this.#seen.values()]
      .map(({ member }) => member)
      .filter(({ id, state }) => state === 'ready' && !members.isSelf(id) && !members.find(id));
  }

  close(): void {
    this.#isClosed = true;
    this.#stop();
  }

  /** Until it was reached. A process that has just joined may answer a moment later. */
  async #greet({ id }: Member, attempt: number): Promise<void> {
    const { cluster, greet, clock } = this.#options;
    const member = cluster.members.find(id);
    if (this.#isClosed || !member) return;
    try {
      await greet(member);
      if (this.#said.delete(`${id} unreachable`))
        this.#options.warn(`the replica ${id} can be reached again`);
      return;
    } catch (error) {
      const isThere = error instanceof IsthmusError && error.code === 'REFUSED_BY_PEER';
      // A server of the library has no operator who could ask it.
      if (isThere && attempt >= MAX_REFUSALS) return;
      if (!isThere && attempt >= PATIENT_ATTEMPTS) {
        this.#say(`${id} unreachable`, describeUnreachable(member, messageOf(error)));
      }
    }
    const pauseMs = Math.min(100 * 2 ** attempt, MAX_PAUSE_MS);
    clock.after(pauseMs, () => void this.#greet(member, attempt + 1), { background: true });
  }

  #compare(member: Member): void {
    const { own } = this.#options.cluster.members;
    const { id, host, servers } = member;
    if (member.protocol !== own.protocol) {
      const versions = `Isthmus ${member.version}, and this one ${own.version}`;
      const what = `the replica ${id} on ${host} has ${versions}: they do not hand requests to each other`;
      this.#say(`${id} protocol`, `${what}. Use one version`);
    }
    for (const [name, digest] of Object.entries(servers)) {
      const here = own.servers[name];
      if (here === undefined || isSameDefinition(here, digest)) continue;
      const what = `the replica ${id} on ${host} has another definition of ${name}: they do not share its processes`;
      this.#say(`${id} ${name} ${digest} ${here}`, `${what}. Use the same configuration file`);
    }
  }

  #say(key: string, line: string): void {
    if (this.#said.has(key)) return;
    if (this.#said.size >= MAX_SAID) this.#said.clear();
    this.#said.add(key);
    this.#options.warn(line);
  }
}

interface SeenMember {
  readonly member: Member;
  /** When it was found to be gone. */
  goneAt?: number;
}

function describeUnreachable({ id, host, address }: Member, why: string): string {
  const what = `the replica ${id} on ${host} cannot be reached at ${address}, so its sessions fail here: ${why}`;
  return `${what}. Check --cluster-advertise there, and the firewall`;
}

function describeStranger(id: string, name: string): string {
  const what = `a process (${id}) of the cluster ${name} has another secret, so it does not belong to this one`;
  return `${what}. Give both the same secret, or different names with --cluster-name`;
}

const WRONG_SECRET = 'wrong secret';
const MISSED_MS = 60_000;
/** It is said after about two seconds. */
const PATIENT_ATTEMPTS = 4;
const MAX_REFUSALS = 12;
const MAX_PAUSE_MS = 5000;
const MAX_SAID = 1000;
