import { type Answers, capabilitiesOf } from '../era/answers.js';
import type { Connector } from '../exchange/connection.js';
import type { ClientCapabilities, Implementation, LogEntry } from '../wire/model.js';
import { ownConnection } from './active-connection.js';
import { Client } from './client.js';
import { type ConnectOptions, resolveConnect } from './options.js';
import { ReconnectingCaller } from './reconnecting-caller.js';
import { ClientMemory } from './response-cache.js';

/**
 * Connects to any server, in whichever era it speaks.
 *
 * ```ts
 * await using client = await connect(stdio({ command: 'npx', args: ['-y', 'some-server'] }));
 * console.log(client.verdict.why, await client.listTools());
 * ```
 */
export async function connect(connector: Connector, options: ConnectOptions = {}): Promise<Client> {
  const settings = resolveConnect(options);
  const memory = new ClientMemory(settings.clock, settings.principal);
  const links = ownConnection(connector, { ...settings, onChange: memory.onChange });
  const session = new ReconnectingCaller(links, { ...settings, onReopened: memory.onReopened });
  await session.open(options.signal);
  return new Client(session, memory);
}

/** A server that somebody speaks to on behalf of others: one session after the other, for whoever needs one. */
export interface Upstream {
  /** What a person would call the server; named in errors. */
  readonly label: string;
  /**
   * Whom a process or a session of the server may have to serve: everybody, everybody of one principal, or just
   * whoever it was opened for.
   */
  readonly serves: 'everybody' | 'principal' | 'one';
  /** Opens nothing yet: the first call does. */
  open(seat: UpstreamSessionOptions): ReconnectingCaller;
}

/** What belongs to no call goes to whoever the session is for. */
export interface UpstreamTenant {
  readonly answers: Answers;
  readonly onLog: ((entry: LogEntry) => void) | undefined;
  /** The user is done at the page that this elicitation was about. */
  readonly onElicited: ((elicitationId: string) => void) | undefined;
}

/** Whom a session is for. */
export interface UpstreamSessionOptions extends UpstreamTenant {
  /** Named in status, logs and errors. */
  readonly name: string;
  /** Proven, or undefined. */
  readonly principal: string | undefined;
  /** Who is calling, as told to the server; undefined: whoever opens it. */
  readonly info: Implementation | undefined;
  /** What the server is told that can be answered. */
  readonly capabilities: ClientCapabilities;
  /** A lost connection was replaced. */
  readonly onReopened: () => void;
}

/** How connections to a server are opened for others. Whom they are for is known later. */
export type UpstreamOptions = Omit<
  ConnectOptions,
  'answers' | 'onLog' | 'signal' | 'reconnect' | 'principal'
> & {
  /** Answers to questions that belong to no call, where nobody can be asked: the roots, say. */
  readonly answers?: Answers;
};

/** A connection of its own for each who needs one. */
export function upstreamAt(connector: Connector, options: UpstreamOptions = {}): Upstream {
  const { answers: fallbackAnswers = {}, ...rest } = options;
  const settings = resolveConnect(rest);
  return {
    label: connector.label,
    serves: 'one',
    open({ info = settings.info, capabilities, answers, onLog, onElicited, onReopened }) {
      const links = ownConnection(connector, {
        ...settings,
        info,
        answers,
        fallbackAnswers,
        capabilities: { ...capabilitiesOf(fallbackAnswers), ...capabilities },
        questions: 'adaptive',
        onLog,
        onElicited,
        onChange: () => {},
      });
      return new ReconnectingCaller(links, { ...settings, reconnect: true, onReopened });
    },
  };
}
