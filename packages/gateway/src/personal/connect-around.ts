import { type Clock, within } from '@isthmus/sdk/internal/async/clock.js';
import type { Bridge } from '@isthmus/sdk/internal/bridge/create-bridge.js';
import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import { ByPrincipal } from '@isthmus/sdk/internal/exchange/by-principal.js';
import type { Call, OpenListen, Service, SessionKeeper } from '@isthmus/sdk/internal/exchange/call.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { correlationOf } from '../access/create-authorize.js';
import type { AskedTicket, ConnectTicket } from '../connect/connect-tickets.js';
import { deriveService } from '../pipeline/derive-service.js';
import { MAX_CALLERS } from './caller-tokens.js';

export interface ConnectAroundOptions {
  readonly name: string;
  readonly clock: Clock;
  hasLogin(principal: string): Promise<boolean>;
  /** Whether the caller has let this client use the login. */
  hasConsent(principal: string, clientId: string | undefined): Promise<boolean>;
  /** Where the caller can log in. */
  invite(asked: Pick<AskedTicket, 'principal' | 'clientId' | 'correlationId'>): Invitation;
  /** The user of the application did not agree to open the page. */
  onDeclined(ticket: ConnectTicket, remote: string | undefined): void;
}

export interface Invitation {
  readonly ticket: ConnectTicket;
  readonly url: string;
  readonly message: string;
}

/**
 * A server whose callers log in themselves. A caller without a login finds one tool, `connect`, which sends its user to the
 * page. A call that the server refuses because a login or scopes are missing asks for the same, and is made again afterwards.
 */
export function connectAround(bridge: Bridge, options: ConnectAroundOptions): Service {
  const connecting = new Connecting(bridge, options);
  return deriveService(bridge, {
    capabilities: () => ({ tools: { listChanged: true }, ...bridge.capabilities() }),
    instructionsFor: ({ principal }) => connecting.instructionsFor(principal),
    ready: (opening, principal) => connecting.ready(opening, principal),
    handle: (call) => connecting.handle(call),
    listen: (peer, wanted, onChange) =>
      bridge.upstream ? bridge.listen!(peer, wanted, onChange) : Promise.resolve(nothingChanges()),
    session: (session) => (bridge.upstream ? bridge.session!(session) : NOTHING_KEPT),
  });
}

class Connecting {
  readonly #bridge: Bridge;
  readonly #options: ConnectAroundOptions;
  /** Who had a login when the client began. */
  readonly #insiders = new ByPrincipal<{ hasLogin: boolean }>(() => ({ hasLogin: false }), MAX_CALLERS);

  constructor(bridge: Bridge, options: ConnectAroundOptions) {
    this.#bridge = bridge;
    this.#options = options;
  }

  /** Without a login the server cannot be asked what it has. */
  async ready(...opening: Parameters<NonNullable<Service['ready']>>): Promise<void> {
    const [, principal] = opening;
    if (principal === undefined) return;
    const hasLogin = await this.#options.hasLogin(principal);
    this.#insiders.of(principal).hasLogin = hasLogin;
    if (hasLogin) await this.#bridge.ready?.(...opening);
  }

  /** What the server tells only those who have a login, it does not tell others by way of the gateway. */
  instructionsFor(principal: string | undefined): string | undefined {
    const isInsider = principal !== undefined && this.#insiders.get(principal)?.hasLogin === true;
    return isInsider ? this.#bridge.instructions : undefined;
  }

  async handle(call: Call): Promise<JsonObject> {
    const { principal } = call.peer;
    const { name } = this.#options;
    if (principal === undefined) {
      const message = `${name} is used with the logins of its callers, and this caller is not known`;
      throw new ProtocolError(ErrorCode.InternalError, message, { reason: 'UNAUTHORIZED', sent: 'no' });
    }
    if (!(await this.#mayUse(principal, call.request?.clientId))) return this.#withoutLogin(call, principal);
    if (!this.#bridge.upstream) await this.#bridge.ready?.(call, principal);
    try {
      return await (this.#bridge.handle(call) as Promise<JsonObject>);
    } catch (error) {
      if (!isUnauthorized(error)) throw error;
      await this.#connect(call, principal);
      return this.#bridge.handle(call) as Promise<JsonObject>;
    }
  }

  async #mayUse(principal: string, clientId: string | undefined): Promise<boolean> {
    const { hasLogin, hasConsent } = this.#options;
    return (await hasLogin(principal)) && hasConsent(principal, clientId);
  }

  async #withoutLogin(call: Call, principal: string): Promise<JsonObject> {
    const { method, params } = call;
    const list = EMPTY_LISTS[method];
    if (method === 'tools/list') return { tools: [this.#tool()], cacheScope: 'private' };
    if (list !== undefined) return { [list]: [], cacheScope: 'private' };
    await this.#connect(call, principal);
    const { name } = this.#options;
    if (method === 'tools/call' && params['name'] === TOOL) {
      return { content: [{ type: 'text', text: `${name} is connected. List the tools again.` }] };
    }
    if (!this.#bridge.upstream) await this.#bridge.ready?.(call, principal);
    return this.#bridge.handle(call) as Promise<JsonObject>;
  }

  #tool(): JsonObject {
    const { name } = this.#options;
    const description = `Logs you in to ${name}. Its tools appear afterwards.`;
    return { name: TOOL, description, inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } };
  }

  /** Sends the user to the page, and waits until the login is there. Rejects where that is not possible. */
  async #connect(call: Call, principal: string): Promise<void> {
    const { clock, invite, onDeclined } = this.#options;
    const clientId = call.request?.clientId;
    const meta = call.params['_meta'];
    const correlationId = correlationOf(isJsonObject(meta) ? meta['traceparent'] : undefined);
    const { ticket, url, message } = invite({ principal, clientId, correlationId });
    const { era, capabilities } = call.peer;
    if (!capabilities.elicitation?.url) throw needsLogin(`${message} ${url}`, url);
    if (era === 'legacy') {
      // 2025-11-25: the client sends its user there, and calls again.
      const elicitation = { mode: 'url', message, url, elicitationId: ticket.id };
      const data = { elicitations: [elicitation] };
      throw new ProtocolError(ErrorCode.LegacyUrlElicitationRequired, message, data);
    }
    const answer = await call.ask({
      method: 'elicitation/create',
      params: { mode: 'url', message, url, elicitationId: ticket.id },
    });
    if (!('action' in answer) || answer.action !== 'accept') {
      onDeclined(ticket, call.peer.remote);
      throw needsLogin(message, url);
    }
    // The user has agreed to open the page, and may take a while there.
    await within(clock, WAIT_MS, ticket.done.promise);
    if (!(await this.#mayUse(principal, clientId))) throw needsLogin(message, url);
  }
}

/** AUTH-G-012: an error of the gateway, and never a 401 that the client would take for its own token. */
function needsLogin(message: string, url: string): ProtocolError {
  const data = { reason: 'UPSTREAM_UNAUTHORIZED', sent: 'no', connect: url };
  return new ProtocolError(ErrorCode.InternalError, message, data);
}

function isUnauthorized(error: unknown): boolean {
  return (
    error instanceof ProtocolError && isJsonObject(error.data) && error.data['reason'] === 'UNAUTHORIZED'
  );
}

/** Nothing is known of the server yet, so nothing can be told of it. */
function nothingChanges(): OpenListen {
  return { honoured: {}, ended: new Promise(() => {}), stop() {} };
}

const NOTHING_KEPT: SessionKeeper = {
  begin() {},
  async setLogLevel() {},
  async subscribe() {},
  async unsubscribe() {},
  rootsChanged() {},
  end() {},
};

const TOOL = 'connect';
const WAIT_MS = 120_000;
const EMPTY_LISTS: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
});
