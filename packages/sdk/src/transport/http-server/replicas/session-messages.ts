import type { Clock } from '../../../async/clock.js';
import { epochOfQuestion } from '../../../era/legacy/server-questions.js';
import { decodeLine, encodeMessage } from '../../../wire/codec.js';
import { type Decoded, errorMessage } from '../../../wire/json-rpc.js';
import { accepts } from '../admission/guard.js';
import { type AdmittedRequest, REPLICA_LOST } from '../exchange/admitted-request.js';
import { EventWriter, messageEvent } from '../exchange/event-writer.js';
import { epochOf, readEventId, requestsIn } from '../sessions/event-ids.js';
import type { SessionConnection } from '../sessions/session-connection.js';
import type { WholeRequest } from './endpoint-replicas.js';

/** The epoch of the question that a message answers. Undefined: it is not an answer. */
export function questionEpoch(message: Decoded): number | undefined {
  if (message.kind !== 'result' && message.kind !== 'error') return undefined;
  return message.id === undefined ? 1 : epochOfQuestion(message.id);
}

/** The epoch of the event that a client resumes from. 0: it resumes nothing. */
export function eventEpoch({ exchange }: AdmittedRequest): number {
  const lastEventId = exchange.method === 'GET' ? exchange.header('last-event-id') : undefined;
  const epoch = lastEventId === undefined ? 0 : epochOf(lastEventId);
  return Number.isFinite(epoch) ? epoch : 0;
}

/** An answer or a notification for a call that runs here, or a client that resumes the answer to one. */
export function isForCall({ admitted, body }: WholeRequest, session: SessionConnection): boolean {
  const { exchange } = admitted;
  const lastEventId = exchange.method === 'GET' ? exchange.header('last-event-id') : undefined;
  if (lastEventId !== undefined) return session.isAtWork(lastEventId);
  const kind = body && decodeLine(body).kind;
  return kind !== undefined && kind !== 'request' && kind !== 'batch';
}

/**
 * A client resumes the answers to requests of a session that is lost, and would wait for them. They end with an error.
 * The session itself gets 404 with the next request. False: it is not such a client.
 */
export function endLostCalls({ exchange, headers }: AdmittedRequest, clock: Clock): boolean {
  const lastEventId = exchange.method === 'GET' ? exchange.header('last-event-id') : undefined;
  const requests = lastEventId === undefined ? [] : requestsIn(readEventId(lastEventId).stream);
  if (requests.length === 0 || !accepts(exchange, 'text/event-stream')) return false;
  const writer = new EventWriter(exchange, headers, clock.now(), () => {});
  for (const id of requests)
    writer.write(messageEvent(encodeMessage(errorMessage(id, REPLICA_LOST))), clock.now());
  writer.end();
  return true;
}
