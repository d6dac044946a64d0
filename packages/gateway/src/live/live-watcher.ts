import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import type { TapLine, TappedConnection } from '@isthmus/sdk/internal/exchange/tap.js';
import type { HostEvent } from '@isthmus/sdk/internal/host/host-event.js';
import type { ProgressUpdate } from '@isthmus/sdk/internal/wire/model.js';
import type { CallEnding } from '../telemetry/call-record.js';

/** A call of a client that runs now. */
export interface LiveCall {
  readonly number: number;
  readonly server: string;
  readonly method: string;
  readonly tool: string | undefined;
  readonly prompt: string | undefined;
  readonly uri: string | undefined;
  readonly era: Era;
  readonly revision: string;
  readonly principal: string | undefined;
  /** The name that the client gives itself. */
  readonly client: string | undefined;
  /** Fails the call for its client, and cancels it at the server. */
  cancel(): void;
}

/** A session of a legacy client. */
export interface LiveSession {
  readonly id: number;
  readonly server: string;
  readonly principal: string | undefined;
  readonly client: string | undefined;
  readonly revision: string;
  /** When it began, in milliseconds since 1970. */
  readonly since: number;
  readonly subscribed: number;
  /** Ends it for its client. */
  end(): void;
}

/** Sees the traffic of a gateway while a person looks at it. Before that, none of it is called. */
export interface LiveWatcher {
  /** False while it does not want to hear of calls. They then cost nothing. */
  readonly wantsCalls: boolean;
  /** A number for a call. What a tap records has the same one. */
  nextNumber(): number;
  /** The watcher has made this call itself. It is not told about it. */
  isOwn(number: number | undefined): boolean;
  callBegan(call: LiveCall): void;
  callAsks(number: number, isAsking: boolean): void;
  callProgressed(number: number, update: ProgressUpdate): void;
  callEnded(number: number, ending: CallEnding & { readonly ms: number }): void;
  sessionBegan(session: LiveSession): void;
  sessionSubscribed(id: number, subscribed: number): void;
  sessionEnded(id: number): void;
  onHostEvent(event: HostEvent): void;
  onRefused(server: string): void;
  /** Whether frames of this server are recorded now. */
  isRecording(server: string): boolean;
  openLine(server: string, connection: TappedConnection): TapLine;
}
