import { type Answers, capabilitiesOf } from '../era/answers.js';
import type { ForeignNotification } from '../exchange/call.js';
import type { Connector } from '../exchange/connection.js';
import type { ClientCapabilities, Implementation, LogEntry } from '../wire/model.js';
import { Client } from './client.js';
import { ownConnection } from './connection-source.js';
import { type ConnectOptions, checkConnector, resolveConnect } from './options.js';
import { ReconnectingCaller } from './reconnecting-caller.js';
import { ClientMemory } from './response-cache.js';

/**
 * Connects to a server of either era.
 *
 * @example
 * ```ts
 * import { connect, stdio } from '@isthmus/sdk';
 *
 * const client = await connect(stdio({ command: 'node', args: ['server.js'] }));
 * const { content } = await client.callTool('hello');
 * console.log(client.era, content); // prints: modern [ { type: 'text', text: 'Hello!' } ]
 * await client.close();
 * ```
 */
export async function connect(connector: Connector, options: ConnectOptions = {}): Promise<Client> {
  checkConnector('connect', connector);
  const settings = resolveConnect(options);
  const memory = new ClientMemory(settings.clock, settings.principal);
  const source = ownConnection(connector, { ...settings, onChange: memory.onChange });
  const session = new ReconnectingCaller(source, { ...settings, onReopened: memory.onReopened });
  await session.open(options.signal);
  return new Client(session, memory);
}

/** A server that is called on behalf of others, with a session for each client or principal that needs one. */
export interface Upstream {
  /** The name of the server in errors. */
  readonly label: string;
  /** Which clients share a process or a session of the server: all, those of one principal, or none. */
  readonly serves: 'everybody' | 'principal' | 'one';
  /** Names the server, if it does not end with this process: its tasks can be found again. */
  readonly place?: string | undefined;
  /** The first call opens the connection. */
  open(options: UpstreamSessionOptions): ReconnectingCaller;
}

/** Receives what belongs to no call. */
export interface UpstreamTenant {
  readonly answers: Answers;
  readonly onLog: ((entry: LogEntry) => void) | undefined;
  /** Called when the user has completed an elicitation by URL. */
  readonly onElicited: ((elicitationId: string) => void) | undefined;
  /** Called for notifications of extensions. */
  readonly onNotification: ((notification: ForeignNotification) => void) | undefined;
}

/** The client that a session is for. */
export interface UpstreamSessionOptions extends UpstreamTenant {
  /** Its name in status, logs and errors. */
  readonly name: string;
  /** Undefined without authentication. */
  readonly principal: string | undefined;
  /** Sent to the server as client info. Default: that of the upstream options. */
  readonly info: Implementation | undefined;
  /** The capabilities that the server is told of. */
  readonly capabilities: ClientCapabilities;
  /** Called when a lost connection was replaced. */
  readonly onReopened: () => void;
}

/** How connections to an upstream are opened. The clients are known later. */
export type UpstreamOptions = Omit<
  ConnectOptions,
  'answers' | 'onLog' | 'signal' | 'reconnect' | 'principal' | 'extensions'
> & {
  /** Answers to questions that belong to no call and that no client can be asked, such as the roots. */
  readonly answers?: Answers;
};

/** An upstream with a connection for each session. */
export function upstreamAt(connector: Connector, options: UpstreamOptions = {}): Upstream {
  const { answers: fallbackAnswers = {}, ...rest } = options;
  const settings = resolveConnect(rest);
  return {
    label: connector.label,
    serves: 'one',
    place: connector.isRemote ? connector.identity : undefined,
    open({ info = settings.info, capabilities, answers, onLog, onElicited, onNotification, onReopened }) {
      const source = ownConnection(connector, {
        ...settings,
        info,
        answers,
        fallbackAnswers,
        capabilities: { ...capabilitiesOf(fallbackAnswers), ...capabilities },
        questions: 'adaptive',
        onLog,
        onElicited,
        onNotification,
        onChange: () => {},
      });
      return new ReconnectingCaller(source, { ...settings, reconnect: true, onReopened });
    },
  };
}
