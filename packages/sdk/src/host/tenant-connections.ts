import { orAborted } from '../async/abort.js';
import type { ConnectionSource } from '../client/connection-source.js';
import type { Tenant } from '../era/client/tenant.js';
import type { TenantCaller } from '../era/client/tenant-caller.js';
import type { IsthmusError } from '../errors.js';
import type { OutgoingCall } from '../exchange/call.js';

/** Where the tenants of one server get their connections from. One for all of them. */
export interface TenantOutlet
  extends Required<Pick<ConnectionSource, 'lastExit' | 'waitForConnection' | 'reopensAfterEnd' | 'isSafe'>> {
  label(): string;
  open(tenant: Tenant): Promise<TenantCaller>;
  pick(tenant: Tenant): TenantCaller | undefined;
  reopensAfterFailure(tenant: Tenant): boolean;
}

/** The connections of one tenant. A class, since there may be thousands: each function of its own takes memory. */
export class TenantConnections implements ConnectionSource {
  readonly #outlet: TenantOutlet;
  readonly #tenant: Tenant;

  constructor(outlet: TenantOutlet, tenant: Tenant) {
    this.#outlet = outlet;
    this.#tenant = tenant;
  }

  get label(): string {
    return this.#outlet.label();
  }

  open({ signal }: Parameters<ConnectionSource['open']>[0]): Promise<TenantCaller> {
    return orAborted(this.#outlet.open(this.#tenant), signal, (connection) => void connection.close());
  }

  pick(): TenantCaller | undefined {
    return this.#outlet.pick(this.#tenant);
  }

  lastExit(): ReturnType<TenantOutlet['lastExit']> {
    return this.#outlet.lastExit();
  }

  waitForConnection(): () => void {
    return this.#outlet.waitForConnection();
  }

  reopensAfterEnd(error: IsthmusError): boolean {
    return this.#outlet.reopensAfterEnd(error);
  }

  reopensAfterFailure(): boolean {
    return this.#outlet.reopensAfterFailure(this.#tenant);
  }

  isSafe(call: OutgoingCall): boolean {
    return this.#outlet.isSafe(call);
  }
}
