import { randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { createDeferred, type Deferred } from '@isthmus/sdk/internal/async/deferred.js';

/** A caller that has to log in at a server. Its id is in the URL of the page; the id opens nothing by itself (AUTH-G-009). */
export interface ConnectTicket {
  readonly id: string;
  readonly principal: string;
  readonly server: string;
  /** The OAuth client of the call, for the page. */
  readonly clientId: string | undefined;
  /** What the server sent when it refused the call. */
  readonly challenge: string | undefined;
  /** Names it in the audit log. */
  readonly correlationId: string;
  /** Typed on the page, where there is no authorization server that can say who opened it. */
  readonly code: string;
  readonly until: number;
  /** Settles when the login has ended, with whether it worked. */
  readonly done: Deferred<boolean>;
  attempts: number;
}

/** For whom a ticket is, and why. */
export type AskedTicket = Pick<
  ConnectTicket,
  'principal' | 'server' | 'clientId' | 'challenge' | 'correlationId'
>;

/** The open tickets. One for each caller, its client, and server; bounded, and short-lived. */
export class ConnectTickets {
  readonly #clock: Clock;
  readonly #member: (() => string) | undefined;
  readonly #byId = new Map<string, ConnectTicket>();
  readonly #byCaller = new Map<string, ConnectTicket>();

  /** `member`: the name of this member of a cluster. */
  constructor(clock: Clock, member?: () => string) {
    this.#clock = clock;
    this.#member = member;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** The ticket of a caller for a server: the open one, or a new one. */
  of(asked: AskedTicket): ConnectTicket {
    const key = keyOf(asked);
    const known = this.#byCaller.get(key);
    if (known && this.#clock.now() < known.until && known.challenge === asked.challenge) return known;
    if (known) this.end(known, false);
    const ticket: ConnectTicket = {
      ...asked,
      id: newTicketId(this.#member?.()),
      code: Array.from({ length: 8 }, () => LETTERS[randomInt(LETTERS.length)]).join(''),
      until: this.#clock.now() + LIFE_MS,
      done: createDeferred(),
      attempts: 0,
    };
    this.#byId.set(ticket.id, ticket);
    this.#byCaller.set(key, ticket);
    // The oldest gives way.
    if (this.#byId.size > MAX_TICKETS) this.end(this.#byId.values().next().value!, false);
    return ticket;
  }

  /** Undefined: there is none, or its time is up. */
  find(id: string): ConnectTicket | undefined {
    const ticket = this.#byId.get(id);
    if (!ticket || this.#clock.now() < ticket.until) return ticket;
    this.end(ticket, false);
    return undefined;
  }

  /** Whether the code is that of the ticket. After five wrong ones the ticket is over. */
  isRight(ticket: ConnectTicket, typed: string): boolean {
    const given = Buffer.from(
      typed
        .toUpperCase()
        .replace(/[^A-Z0-9]/g, '')
        .padEnd(8)
        .slice(0, 9),
    );
    const own = Buffer.from(ticket.code);
    if (given.length === own.length && timingSafeEqual(given, own)) return true;
    ticket.attempts += 1;
    if (ticket.attempts >= MAX_ATTEMPTS) this.end(ticket, false);
    return false;
  }

  end(ticket: ConnectTicket, worked: boolean): void {
    this.#byId.delete(ticket.id);
    if (this.#byCaller.get(keyOf(ticket)) === ticket) this.#byCaller.delete(keyOf(ticket));
    ticket.done.resolve(worked);
  }
}

/** Random, and the name of the member that knows it. */
export function newTicketId(member: string | undefined): string {
  const id = randomBytes(18).toString('base64url');
  return member === undefined ? id : `${id}.${member}`;
}

function keyOf({
  principal,
  server,
  clientId,
}: Pick<ConnectTicket, 'principal' | 'server' | 'clientId'>): string {
  return [server, principal, clientId ?? ''].join('\n');
}

/** Without letters and digits that look alike. */
const LETTERS = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789';
const LIFE_MS = 600_000;
const MAX_TICKETS = 10_000;
const MAX_ATTEMPTS = 5;
