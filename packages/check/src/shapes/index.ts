/** Judges whether messages of a server are well-formed in their revision. Unknown members are allowed. */
import { error, judgeEnvelope } from './envelope.js';
import { notificationShape } from './notifications.js';
import { serverRequestShape } from './questions.js';
import { resultShape } from './results.js';
import { type Complaint, judge, type Revision } from './shape.js';

export type { Revision } from './shape.js';
export { type Complaint, complaintText } from './shape.js';

/** `method` is the method of the request. Paths begin with `result`. Of an unknown method only common members are judged. */
export function judgeResult(method: string, result: unknown, revision: Revision): Complaint[] {
  return judge(resultShape(method, revision), result, 'result', revision);
}

/** Paths begin with `params`. The path is `method` if a server of this revision does not send the notification. */
export function judgeNotification(method: string, params: unknown, revision: Revision): Complaint[] {
  return judge(notificationShape(method), params, 'params', revision);
}

/** A request of a server to the client (legacy only). Paths begin with `params`. */
export function judgeServerRequest(method: string, params: unknown, revision: Revision): Complaint[] {
  return judge(serverRequestShape(method), params, 'params', revision);
}

/** The `error` member of an answer. Paths begin with `error`. */
export function judgeError(value: unknown, revision: Revision): Complaint[] {
  return judge(error, value, 'error', revision);
}

/** Only the JSON-RPC envelope. An array is valid only in 2025-03-26, as a batch. */
export function judgeMessage(json: unknown, revision?: Revision): Complaint[] {
  return judgeEnvelope(json, revision);
}
