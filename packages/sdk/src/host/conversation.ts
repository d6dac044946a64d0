import type { Clock } from '../async/clock.js';
import type { ActiveConnection, ConnectionSource } from '../client/active-connection.js';
import { Client } from '../client/client.js';
import { ReconnectingCaller } from '../client/reconnecting-caller.js';
import { ClientMemory } from '../client/response-cache.js';
import { type Answers, capabilitiesOf } from '../era/answers.js';
import type { Tenant } from '../era/client-dialect-context.js';
import type { Change } from '../exchange/call.js';
import type { ClientCapabilities, Implementation, LogEntry } from '../wire/model.js';

/** Who speaks in a conversation, and how it answers. */
export interface ConversationOptions {
  /** What this conversation does when the server asks. */
  readonly answers?: Answers;
  /** Whose conversation it is, where that is known and proven. Never taken from the server's side. */
  readonly principal?: string;
  /** Named in status, logs and errors. Default: the server's name and a number. */
  readonly name?: string;
  /** The client that a modern server sees. Default: the host. */
  readonly info?: Implementation;
  /** Its logs that belong to no call. */
  readonly onLog?: (entry: LogEntry) => void;
  /** Time for one call, unless the call says otherwise. Default: that of the server. */
  readonly timeoutMs?: number;
}

/** For a bridge, which calls on behalf of its clients. */
export interface OwnedConversationOptions extends ConversationOptions {
  /** The capabilities that are declared to the server. Default: those of the answers. */
  readonly capabilities?: ClientCapabilities;
  readonly onElicited?: ((elicitationId: string) => void) | undefined;
  /** A process that was lost was replaced. */
  readonly onReopened?: () => void;
}

/** A conversation as the host keeps it: the client that the user has, and what the host does with it. */
export interface Conversation {
  readonly member: Participant;
  readonly client: Client;
  readonly session: ReconnectingCaller;
  /** Something changed on the server. */
  changed(change: Change): void;
  /** Something changed that the server did not tell of itself. */
  announce(change: Change): void;
  close(): Promise<void>;
}

export interface ConversationContext {
  readonly label: string;
  readonly info: Implementation;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** The ways to the server, for this member. */
  links(member: Participant): ConnectionSource;
  /** The conversation has ended. */
  onClosed(): void;
}

export function openConversation(
  options: OwnedConversationOptions,
  context: ConversationContext,
): Conversation {
  const { answers = {}, principal, info = context.info, onLog, timeoutMs = context.timeoutMs } = options;
  const { clock, label } = context;
  const memory = new ClientMemory(clock, principal);
  const member: Participant = {
    label,
    principal,
    voice: { info, answers, principal, onLog, onElicited: options.onElicited },
    capabilities: options.capabilities ?? capabilitiesOf(answers),
    links: new Set(),
  };
  const session = new ReconnectingCaller(context.links(member), {
    clock,
    timeoutMs,
    reconnect: true,
    onReopened() {
      memory.onReopened();
      options.onReopened?.();
    },
  });
  void session.closed.then(() => {
    for (const link of [...member.links]) void link.close();
    context.onClosed();
  });
  return {
    member,
    client: new Client(session, memory),
    session,
    changed: memory.onChange,
    announce(change) {
      memory.onChange(change);
      session.announce(change);
    },
    close: () => session.close(),
  };
}

/** A conversation, as the processes of its server see it. */
export interface Participant {
  readonly label: string;
  readonly principal: string | undefined;
  readonly voice: Tenant;
  /** What it can answer. */
  readonly capabilities: ClientCapabilities;
  /** Its shares in processes, of which there are several in a pool and while one is being replaced. */
  readonly links: Set<ActiveConnection>;
}
