import { messageOf } from '@isthmus/sdk/internal/errors.js';
import type { Tap, TapLine, TappedConnection } from '@isthmus/sdk/internal/exchange/tap.js';
import type { Connections } from './connections.js';
import { RecordedLine } from './recorded-line.js';
import type { FrameRing } from './ring.js';

export interface RecorderOptions {
  readonly ring: FrameRing;
  readonly connections: Connections;
  /** A new number for a call that a client makes. `isOwn`: the page is that client. */
  nextCall(isOwn: boolean): number;
  /** Removes secrets before a text is kept. Default: nothing is removed. */
  readonly clean?: ((text: string) => string) | undefined;
  /** Milliseconds since the ring began. */
  now(): number;
  /** Whether frames of this call to this server of a gateway are kept; 0: of no call. Default: all. */
  wants?(call: number, server: string | undefined): boolean;
  onStderr?(connection: number, text: string): void;
  onEnd?(connection: number, why: string): void;
}

/** What belongs to the connections of one tap. */
export interface TapScope {
  /** The name of the server in a gateway. */
  readonly server?: string | undefined;
  /** For connections of `CallRequest.lens`. */
  readonly lens?: boolean | undefined;
  /** The client is the page itself. Its calls are recorded also while the recorder is off. */
  readonly isOwn?: boolean | undefined;
  /** The person who uses the console through this connection. */
  readonly client?: string | undefined;
}

/** Records the frames of connections in a ring. */
export class FrameRecorder {
  isOn: boolean;
  readonly #options: RecorderOptions;

  constructor(options: RecorderOptions, isOn: boolean) {
    this.#options = options;
    this.isOn = isOn;
  }

  /** A tap for connectors and listeners. It is on while the recorder is. */
  tap(scope: TapScope = {}): Tap {
    const recorder = this;
    return {
      get isOn() {
        return scope.isOwn === true || recorder.isOn;
      },
      open: (connection) => this.open(connection, scope),
    };
  }

  /** A line for a connection that somebody else watches over. */
  open(connection: TappedConnection, { server, lens = false, client, isOwn = false }: TapScope): TapLine {
    const { connections } = this.#options;
    const { label, side, transport, pid, generation, principal } = connection;
    const id = connections.add({
      ...{ side, label, transport, lens, began: Date.now() },
      ...(server !== undefined && { server }),
      ...(pid !== undefined && { pid }),
      ...(generation !== undefined && { generation }),
      ...(principal !== undefined && { principal }),
      ...(client !== undefined && { client }),
    });
    return new RecordedLine({ id, isOwn, server }, connection, this.#options);
  }
}

/** One sentence about the end of a connection. */
export function describeEnd({
  kind,
  error,
}: {
  readonly kind: string;
  readonly error?: Error | undefined;
}): string {
  if (error) return messageOf(error);
  return kind === 'lost' ? 'the peer disconnected' : 'it was closed';
}
