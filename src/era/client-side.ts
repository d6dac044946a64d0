import type { Clock } from '../async/clock.js';
import { events } from '../events.js';
import type { Connection } from '../exchange/connection.js';
import type { DecodedError, DecodedNotification, DecodedRequest, DecodedResult } from '../wire/json-rpc.js';
import type { Implementation, LogEntry } from '../wire/model.js';
import type { Answers } from './answers.js';

/** What a client dialect works with. */
export interface ClientSide {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly info: Implementation;
  readonly answers: Answers;
  /** How many `input_required` rounds one call may take. */
  readonly maxRounds: number;
  /** Logs that belong to no call. */
  readonly onLog: ((entry: LogEntry) => void) | undefined;
}

/** The messages of a server, handed to the dialect of its era. */
export interface ClientDialect {
  request(request: DecodedRequest): void;
  notification(notification: DecodedNotification): void;
  response(response: DecodedResult | DecodedError): void;
  /** No more messages will come. */
  ended(error: Error): void;
}

/** A message that matches nothing is reported, never thrown. */
export function report(side: ClientSide, why: string, message: unknown): void {
  if (events.dropped.hasSubscribers)
    events.dropped.publish({ connection: side.connection.label, why, message });
}
