import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import type { ServerSpec } from '@isthmus/sdk/internal/config/server-spec.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import type { Connection, Listener } from '@isthmus/sdk/internal/exchange/connection.js';
import type { Host } from '@isthmus/sdk/internal/host/create-host.js';
import { serve } from '@isthmus/sdk/internal/server/serve.js';
import { GatewayServer } from '../gateway-server.js';
import { hostDefinition } from '../reload-plan.js';
import type { GatewayServerStatus } from '../server-state.js';
import { type AttachParams, withAmbient } from './definition.js';
import type { HostedCommands } from './hosted-commands.js';

export interface AttachedServerContext {
  readonly host: Host;
  readonly commands: HostedCommands;
  readonly clock: Clock;
  readonly onStartFailed: (name: string, error: unknown) => void;
  /** Takes secrets out of what a server has said. */
  readonly clean: (text: string) => string;
}

export interface AttachedServerStatus extends GatewayServerStatus {
  /** How many hosts are attached to it. */
  readonly attached: number;
}

/** One server of the daemon, for all hosts that define it in the same way. */
export class AttachedServer {
  readonly name: string;
  readonly #spec: ServerSpec;
  readonly #context: AttachedServerContext;
  readonly #unit: GatewayServer;
  /** Undefined where each host has its own. */
  readonly #room: ConnectionServer | undefined;
  readonly #attached = new Set<Connection>();
  #closing: Promise<void> | undefined;

  constructor(name: string, params: AttachParams, context: AttachedServerContext) {
    this.name = name;
    this.#context = context;
    this.#spec = { ...withAmbient(params), name };
    const spec = this.#spec;
    if (spec.kind === 'command') context.commands.add(name, hostDefinition(spec));
    this.#unit = this.#newUnit();
    const isOwn = spec.kind === 'command' && spec.processes === 'per-conversation';
    this.#room = isOwn ? undefined : openConnectionServer(this.#unit.service);
  }

  get attached(): number {
    return this.#attached.size;
  }

  /** Serves a host from now on. Settles when it is gone, never rejects. */
  async serve(connection: Connection, onBegin: () => void): Promise<void> {
    this.#attached.add(connection);
    if (this.#room) {
      await this.#room.enter(connection);
      onBegin();
      await connection.closed;
    } else await this.#serveAlone(connection, onBegin);
    this.#attached.delete(connection);
  }

  /** A host is a conversation, whatever its era: it has a bridge, and so a process, of its own. */
  async #serveAlone(connection: Connection, onBegin: () => void): Promise<void> {
    const unit = this.#newUnit();
    const room = openConnectionServer(unit.service);
    await room.enter(connection);
    onBegin();
    await connection.closed;
    await room.close(0);
    await unit.close();
  }

  async status(): Promise<AttachedServerStatus> {
    return { ...(await this.#unit.status([])), attached: this.attached };
  }

  async restart(): Promise<void> {
    await this.#ofProcess().restart(this.name);
  }

  async stop(): Promise<void> {
    await this.#ofProcess().disable(this.name);
  }

  async start(): Promise<void> {
    const host = this.#ofProcess();
    await host.enable(this.name);
    await host.start(this.name);
  }

  /** Twice is harmless. */
  close(graceMs = 0): Promise<void> {
    this.#closing ??= this.#close(graceMs);
    return this.#closing;
  }

  async #close(graceMs: number): Promise<void> {
    for (const connection of this.#room ? [] : this.#attached) connection.close();
    await this.#room?.close(graceMs);
    await this.#unit.close();
    if (this.#spec.kind === 'command') await this.#context.commands.remove(this.name);
  }

  #newUnit(): GatewayServer {
    const { host, clock, onStartFailed, clean } = this.#context;
    return new GatewayServer(this.#spec, {
      ...{ host, clock, onStartFailed, clean },
      // Whoever is attached is of the user who runs it.
      tellsStderr: true,
      onChange() {},
    });
  }

  #ofProcess(): Host {
    if (this.#spec.kind === 'command') return this.#context.host;
    throw new IsthmusError('INVALID_OPTION', `${this.name} is an address: it has no process here`);
  }
}

/** A service for connections that somebody else has accepted; each finds its era by itself. */
interface ConnectionServer {
  /** Settles when the connection is listened to. */
  enter(connection: Connection): Promise<void>;
  /** Finishes what runs within the grace, and closes all connections. */
  close(graceMs: number): Promise<void>;
}

function openConnectionServer(service: Service): ConnectionServer {
  const ended = createDeferred<void>();
  const accepting = createDeferred<(connection: Connection) => void>();
  const listener: Listener = {
    ownsProcess: false,
    async listen(accept) {
      accepting.resolve(accept);
      return {
        address: 'attached',
        ended: ended.promise,
        async stop() {
          ended.resolve();
        },
      };
    },
  };
  const serving = serve(service, listener);
  return {
    async enter(connection) {
      (await accepting.promise)(connection);
    },
    async close(graceMs) {
      await (await serving).close({ graceMs });
    },
  };
}
