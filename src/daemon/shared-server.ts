import type { Clock } from '../async/clock.js';
import { IsthmusError } from '../errors.js';
import type { Connection } from '../exchange/connection.js';
import { withUnitLimits } from '../gateway/limits/index.js';
import type { UnitStatus } from '../gateway/status.js';
import { Unit } from '../gateway/unit.js';
import { hostDefinition } from '../gateway/unit-changes.js';
import type { UnitDefinition } from '../gateway/unit-definition.js';
import type { Host } from '../host/create-host.js';
import type { AttachParams } from './definition.js';
import type { HostedCommands } from './hosted-commands.js';
import { openRoom, type Room } from './room.js';
import { toOurs } from './to-ours.js';

export interface SharedServerContext {
  readonly host: Host;
  readonly commands: HostedCommands;
  readonly clock: Clock;
  readonly onStartFailed: (name: string, error: unknown) => void;
  /** Takes secrets out of what a server has said. */
  readonly clean: (text: string) => string;
}

export interface SharedServerStatus extends UnitStatus {
  /** How many hosts are attached to it. */
  readonly attached: number;
}

/** One server of the daemon, for all hosts that define it in the same way. */
export class SharedServer {
  readonly name: string;
  readonly #definition: UnitDefinition;
  readonly #context: SharedServerContext;
  readonly #unit: Unit;
  /** Undefined where each host has its own. */
  readonly #room: Room | undefined;
  readonly #attached = new Set<Connection>();
  #closing: Promise<void> | undefined;

  constructor(name: string, params: AttachParams, context: SharedServerContext) {
    this.name = name;
    this.#context = context;
    this.#definition = toOurs(name, params);
    const { source } = this.#definition;
    if (source.kind === 'command') context.commands.add(name, hostDefinition(source.definition));
    this.#unit = this.#newUnit();
    const isOwn = source.kind === 'command' && source.definition.processes === 'per-conversation';
    this.#room = isOwn ? undefined : openRoom(this.#unit.service);
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
    const room = openRoom(unit.service);
    await room.enter(connection);
    onBegin();
    await connection.closed;
    await room.close(0);
    await unit.close();
  }

  async status(): Promise<SharedServerStatus> {
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
    if (this.#definition.source.kind === 'command') await this.#context.commands.remove(this.name);
  }

  #newUnit(): Unit {
    const { host, clock, onStartFailed, clean } = this.#context;
    return new Unit(this.#definition, {
      ...{ host, clock, onStartFailed, clean },
      around: (service, unit) => withUnitLimits(service, unit),
      // Whoever is attached is of the user who runs it.
      tellsStderr: true,
      onChange() {},
    });
  }

  #ofProcess(): Host {
    if (this.#definition.source.kind === 'command') return this.#context.host;
    throw new IsthmusError('INVALID_OPTION', `${this.name} is an address: it has no process here`);
  }
}
