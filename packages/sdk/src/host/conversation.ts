import type { Clock } from '../async/clock.js';
import { Client } from '../client/client.js';
import type { ConnectionSource } from '../client/connection-source.js';
import { ReconnectingCaller } from '../client/reconnecting-caller.js';
import { ClientMemory } from '../client/response-cache.js';
import { type Answers, capabilitiesOf } from '../era/answers.js';
import type { Tenant } from '../era/client/tenant.js';
import type { Change, ForeignNotification } from '../exchange/call.js';
import type { ClientCapabilities, Implementation, LogEntry } from '../wire/model.js';

/** The client of a conversation, and how it answers questions. */
export interface ConversationOptions {
  /** Handlers for questions of the server. */
  readonly answers?: Answers;
  /** The authenticated principal of the conversation. Never set from what a server sends. */
  readonly principal?: string;
  /** The name in status, logs and errors. Default: the server's name and a number. */
  readonly name?: string;
  /** The client that a modern server sees. Default: the host. */
  readonly info?: Implementation;
  /** Called for logs of the conversation that belong to no call. */
  readonly onLog?: (entry: LogEntry) => void;
  /** Timeout of a call that sets none. Default: that of the server. */
  readonly timeoutMs?: number;
}

/** For a bridge, which calls on behalf of its clients. */
export interface OwnedConversationOptions extends ConversationOptions {
  /** The capabilities that are declared to the server. Default: those of the answers. */
  readonly capabilities?: ClientCapabilities;
  readonly onElicited?: ((elicitationId: string) => void) | undefined;
  readonly onNotification?: ((notification: ForeignNotification) => void) | undefined;
  /** Called when a new process has replaced one that was lost. */
  readonly onReopened?: () => void;
}

export interface ConversationContext {
  readonly label: string;
  readonly info: Implementation;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Where the conversation gets its connections from. */
  connections(tenant: Tenant): ConnectionSource;
  onClosed(conversation: Conversation): void;
}

/**
 * A conversation as the host keeps it: the client of the application, and what the host needs of it. The client is made
 * when it is asked for. A bridge uses the caller alone, and has a conversation for each of thousands of sessions.
 */
export class Conversation {
  readonly tenant: Tenant;
  readonly caller: ReconnectingCaller;
  readonly #onReopened: (() => void) | undefined;
  #memory: ClientMemory | undefined;
  #client: Client | undefined;

  constructor(options: OwnedConversationOptions, context: ConversationContext) {
    const { answers = {}, principal, info = context.info, onLog, timeoutMs = context.timeoutMs } = options;
    const { clock, label, onClosed } = context;
    this.#onReopened = options.onReopened;
    this.tenant = {
      ...{ label, info, answers, principal, onLog },
      onElicited: options.onElicited,
      onNotification: options.onNotification,
      capabilities: options.capabilities ?? capabilitiesOf(answers),
      callers: new Set(),
    };
    this.caller = new ReconnectingCaller(context.connections(this.tenant), {
      clock,
      timeoutMs,
      reconnect: true,
      onReopened: () => this.#reopened(),
    });
    void this.caller.closed.then(() => {
      for (const its of [...this.tenant.callers]) void its.close();
      onClosed(this);
    });
  }

  get client(): Client {
    if (!this.#client) {
      this.#memory = new ClientMemory(this.caller.clock, this.tenant.principal);
      this.#client = new Client(this.caller, this.#memory);
    }
    return this.#client;
  }

  /** The server reported a change. */
  changed(change: Change): void {
    this.#memory?.onChange(change);
  }

  /** Announces a change that the host found by itself. */
  announce(change: Change): void {
    this.changed(change);
    this.caller.announce(change);
  }

  close(): Promise<void> {
    return this.caller.close();
  }

  #reopened(): void {
    this.#memory?.onReopened();
    this.#onReopened?.();
  }
}
