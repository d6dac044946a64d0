import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import type {
  AccessRequest,
  RequestedMessage,
} from '@isthmus/sdk/internal/transport/http-server/admission/authorize.js';
import type { AccessCaller } from './access/access-policy.js';
import { type TargetServer, toolIn } from './access/create-authorize.js';
import { learnTools } from './access/learn-tools.js';
import type { Aggregate } from './aggregate/aggregate.js';
import type { GatewayOptions } from './gateway.js';
import type { GatewayServer } from './gateway-server.js';

/**
 * What is served at the main path: the gateway's own service, the only server as it is, or all of them as one. The servers
 * may change.
 */
export class MainPath {
  readonly #options: Pick<GatewayOptions, 'own' | 'single'>;
  readonly #aggregate: Aggregate;
  readonly #servers: () => ReadonlyMap<string, GatewayServer>;

  constructor(
    options: Pick<GatewayOptions, 'own' | 'single'>,
    aggregate: Aggregate,
    servers: () => ReadonlyMap<string, GatewayServer>,
  ) {
    this.#options = options;
    this.#aggregate = aggregate;
    this.#servers = servers;
  }

  service(): Service {
    const [only, ...others] = this.#servers().values();
    return this.#options.own?.service ?? (only && others.length === 0 ? only.service : this.#aggregate);
  }

  /** A stream cannot change its service while a client uses it, so a single server must be declared as such. */
  streamService(): Service {
    const [only] = this.#servers().values();
    return this.#options.own?.service ?? (this.#options.single && only ? only.service : this.#aggregate);
  }

  /** The server that a message is for, as far as that is known without asking. */
  targetOf(message: RequestedMessage, caller: AccessCaller): TargetServer | undefined {
    const servers = this.#servers();
    const [only, ...others] = servers.values();
    if (this.#options.own || !only) return undefined;
    if (others.length === 0) return { server: only, tool: toolIn(message) };
    const found = this.#aggregate.targets.of(message, caller);
    const server = found && servers.get(found.member.name);
    return server && { server, tool: found.tool };
  }

  /** Reads the lists that tell it. Undefined: they would tell nothing more. */
  learnTools(request: AccessRequest, clock: Clock): Promise<unknown> | undefined {
    if (this.#options.own || this.#servers().size < 2) return undefined;
    return learnTools(this.#aggregate.targets, request, clock);
  }
}
