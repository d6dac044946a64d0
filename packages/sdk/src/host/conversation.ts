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

/** A conversation as the host keeps it: the client of the application, and what the host needs of it. */
export interface Conversation {
  readonly tenant: Tenant;
  readonly client: Client;
  readonly caller: ReconnectingCaller;
  /** The server reported a change. */
  changed(change: Change): void;
  /** Announces a change that the host found by itself. */
  announce(change: Change): void;
  close(): Promise<void>;
}

export interface ConversationContext {
  readonly label: string;
  readonly info: Implementation;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Where the conversation gets its connections from. */
  connections(tenant: Tenant): ConnectionSource;
  onClosed(): void;
}

export function openConversation(
  options: OwnedConversationOptions,
  context: ConversationContext,
): Conversation {
  const { answers = {}, principal, info = context.info, onLog, timeoutMs = context.timeoutMs } = options;
  const { clock, label, onClosed } = context;
  // The callbacks below live as long as the conversation. They must not keep `options` and `context` with them.
  const { onReopened } = options;
  const memory = new ClientMemory(clock, principal);
  const tenant: Tenant = {
    ...{ label, info, answers, principal, onLog },
    onElicited: options.onElicited,
    onNotification: options.onNotification,
    capabilities: options.capabilities ?? capabilitiesOf(answers),
    callers: new Set(),
  };
  const caller = new ReconnectingCaller(context.connections(tenant), {
    clock,
    timeoutMs,
    reconnect: true,
    onReopened() {
      memory.onReopened();
      onReopened?.();
    },
  });
  void caller.closed.then(() => {
    for (const its of [...tenant.callers]) void its.close();
    onClosed();
  });
  return {
    tenant,
    client: new Client(caller, memory),
    caller,
    changed: memory.onChange,
    announce(change) {
      memory.onChange(change);
      caller.announce(change);
    },
    close: () => caller.close(),
  };
}
