import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import type { ServerSpec } from '@isthmus/sdk/internal/config/server-spec.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import type { Connection, Listener } from '@isthmus/sdk/internal/exchange/connection.js';
import type { Host } from '@isthmus/sdk/internal/host/create-host.js';
import { resolveDefinition, type ServerDefinition } from '@isthmus/sdk/internal/host/definition.js';
import type { LoginSource } from '@isthmus/sdk/internal/host/spec-connector.js';
import { serve } from '@isthmus/sdk/internal/server/serve.js';
import { GatewayServer } from '../gateway-server.js';
import { hostDefinition } from '../reload-plan.js';
import type { GatewayServerStatus } from '../server-state.js';
import { type AttachParams, withAmbient } from './definition.js';

export interface AttachedServerContext {
  readonly host: Host;
  readonly commands: HostedCommands;
  readonly clock: Clock;
  readonly logins: LoginSource;
  readonly onStartFailed: (name: string, error: unknown) => void;
  /** Removes secrets from a text of a server. */
  readonly clean: (text: string) => string;
}

export interface AttachedServerStatus extends GatewayServerStatus {
  /** How many hosts are attached to it. */
  readonly attached: number;
}

/** One server of the daemon, for all hosts with the same definition. */
export class AttachedServer {
  readonly name: string;
  readonly #spec: ServerSpec;
  readonly #context: AttachedServerContext;
  readonly #server: GatewayServer;
  /** Undefined when each host has its own process. */
  readonly #connections: ConnectionServer | undefined;
  readonly #attached = new Set<Connection>();
  #closing: Promise<void> | undefined;

  constructor(name: string, params: AttachParams, context: AttachedServerContext) {
    this.name = name;
    this.#context = context;
    this.#spec = { ...withAmbient(params), name };
    const spec = this.#spec;
    if (spec.kind === 'command') context.commands.add(name, hostDefinition(spec));
    this.#server = this.#newServer();
    const isOwn = spec.kind === 'command' && spec.processes === 'per-conversation';
    this.#connections = isOwn ? undefined : openConnectionServer(this.#server.service);
  }

  get attached(): number {
    return this.#attached.size;
  }

  /** Serves a host. Settles when the host is gone. Never rejects. */
  async serve(connection: Connection, onBegin: () => void): Promise<void> {
    this.#attached.add(connection);
    if (this.#connections) {
      await this.#connections.accept(connection);
      onBegin();
      await connection.closed;
    } else await this.#serveAlone(connection, onBegin);
    this.#attached.delete(connection);
  }

  /** Each host is one conversation in either era, so it gets its own bridge and its own process. */
  async #serveAlone(connection: Connection, onBegin: () => void): Promise<void> {
    const server = this.#newServer();
    const connections = openConnectionServer(server.service);
    await connections.accept(connection);
    onBegin();
    await connection.closed;
    await connections.close(0);
    await server.close();
  }

  async status(): Promise<AttachedServerStatus> {
    return { ...(await this.#server.status([])), attached: this.attached };
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

  /** A second call is harmless. */
  close(graceMs = 0): Promise<void> {
    this.#closing ??= this.#close(graceMs);
    return this.#closing;
  }

  async #close(graceMs: number): Promise<void> {
    for (const connection of this.#connections ? [] : this.#attached) connection.close();
    await this.#connections?.close(graceMs);
    await this.#server.close();
    if (this.#spec.kind === 'command') await this.#context.commands.remove(this.name);
  }

  #newServer(): GatewayServer {
    const { host, clock, logins, onStartFailed, clean } = this.#context;
    return new GatewayServer(this.#spec, {
      ...{ host, clock, logins, onStartFailed, clean },
      // All hosts belong to the user who runs the server.
      tellsStderr: true,
      onChange() {},
    });
  }

  #ofProcess(): Host {
    if (this.#spec.kind === 'command') return this.#context.host;
    throw new IsthmusError('INVALID_OPTION', `${this.name} is a remote server: it has no process here`);
  }
}

/** Serves connections that the control socket has accepted. Each connection has its own era. */
interface ConnectionServer {
  /** Settles when the connection is served. */
  accept(connection: Connection): Promise<void>;
  /** Gives running calls the grace, and closes all connections. */
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
    async accept(connection) {
      (await accepting.promise)(connection);
    },
    async close(graceMs) {
      await (await serving).close({ graceMs });
    },
  };
}

/** Adds and removes single commands of a host. */
export interface HostedCommands {
  /** Throws when the definition is invalid. */
  add(name: string, definition: ServerDefinition): void;
  /** Settles when its processes have ended. */
  remove(name: string): Promise<void>;
}

export function hostedCommands(host: Host): HostedCommands {
  let definitions: Readonly<Record<string, ServerDefinition>> = {};
  return {
    add(name, definition) {
      resolveDefinition(name, definition);
      definitions = { ...definitions, [name]: definition };
      // A new command can be used at once. The promise waits for the end of removed commands.
      host.configure(definitions).catch(() => {});
    },
    async remove(name) {
      const { [name]: _, ...rest } = definitions;
      definitions = rest;
      await host.configure(definitions);
    },
  };
}
