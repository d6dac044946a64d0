/** Is what a server sent well-formed in its revision? Members that a revision does not know are let be. */
import { error, judgeEnvelope } from './envelope.js';
import { notificationShape } from './notifications.js';
import { serverRequestShape } from './questions.js';
import { resultShape } from './results.js';
import { type Complaint, judge, type Revision } from './shape.js';

export type { Revision } from './shape.js';
export { type Complaint, complaintText } from './shape.js';

/** `method` is that of the request; paths begin with `result`. A method that nobody knows has few complaints. */
export function judgeResult(method: string, result: unknown, revision: Revision): Complaint[] {
  return judge(resultShape(method, revision), result, 'result', revision);
}

/** Paths begin with `params`, or are `method` for what a server of this revision does not send. */
export function judgeNotification(method: string, params: unknown, revision: Revision): Complaint[] {
  return judge(notificationShape(method), params, 'params', revision);
}

/** A request of the server to the client, which only legacy revisions have; paths begin with `params`. */
export function judgeServerRequest(method: string, params: unknown, revision: Revision): Complaint[] {
  return judge(serverRequestShape(method), params, 'params', revision);
}

/** The `error` member of an answer; paths begin with `error`. */
export function judgeError(value: unknown, revision: Revision): Complaint[] {
  return judge(error, value, 'error', revision);
}

/** The envelope alone. An array is a batch, which only 2025-03-26 has: without a revision it is a complaint. */
export function judgeMessage(json: unknown, revision?: Revision): Complaint[] {
  return judgeEnvelope(json, revision);
}
