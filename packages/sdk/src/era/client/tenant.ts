import type { IsthmusError } from '../../errors.js';
import type { ForeignNotification, OutgoingCall } from '../../exchange/call.js';
import type { ClientCapabilities, Implementation, LogEntry } from '../../wire/model.js';
import type { Answers } from '../answers.js';
import type { Extensions } from '../extensions.js';
import type { TenantCaller } from './tenant-caller.js';

/**
 * A logical client that shares a connection with others. A plain client is the only tenant of its connection; the
 * conversations of a host share one. The calls, questions, subscriptions and logs of a tenant never reach another.
 */
export interface Tenant {
  /** Its name in status, logs and errors. */
  readonly label: string;
  readonly info: Implementation;
  readonly answers: Answers;
  /** What it can answer. Default: what `answers` can. */
  readonly capabilities?: ClientCapabilities;
  /** Declared with each request of its own to a modern server. */
  readonly extensions?: Extensions | undefined;
  /** The authenticated principal, if there is one. Questions and logs never cross from one principal to another. */
  readonly principal?: string | undefined;
  /** Called for logs of the tenant that belong to no call. */
  readonly onLog: ((entry: LogEntry) => void) | undefined;
  /** Called for notifications of extensions that belong to no call of the tenant. */
  readonly onNotification?: ((notification: ForeignNotification) => void) | undefined;
  /** Called when a user has finished at the URL of an elicitation, with its id (2025-11-25). */
  readonly onElicited?: ((elicitationId: string) => void) | undefined;
  /** The connection is for this tenant alone, and is closed with it. */
  readonly ownsConnection?: boolean;
  /** It makes calls, but gets no questions and no logs. Its calls belong to no principal. */
  readonly isHidden?: boolean;
  /** One for each connection that it uses: several in a pool, and while a process is being replaced. */
  readonly callers: Set<TenantCaller>;
}

/** Limits the calls of all tenants of a connection. A call holds no slot while the server does not work on it. */
export interface TenantLimiter {
  /** Takes a slot for a call. False: the call has to wait. */
  begin(call: OutgoingCall, tenant: TenantCaller): boolean;
  /** Waits for a slot. Settles with the same call, and with the time that is left of it. */
  wait(call: OutgoingCall, tenant: TenantCaller): Promise<OutgoingCall>;
  /** The call was answered, has failed or was given up: releases its slot. */
  end(call: OutgoingCall, hasResult: boolean): void;
  /** The call waits for its turn, or for a user: then `giveUp` ends it. It releases its slot meanwhile. */
  suspend(call: OutgoingCall, tenant: TenantCaller, giveUp?: (error: IsthmusError) => void): void;
  /** The server works on the call again. */
  resume(call: OutgoingCall): void;
  /** A subscription counts as use of the connection; the returned function ends it. */
  holdSubscription(): () => void;
  /** Refuses the calls of a tenant that wait for a slot. */
  refuse(tenant: TenantCaller, error: IsthmusError): void;
}
