/** Is what a server sent well-formed in its revision? Members that a revision does not know are let be. */
import type { LegacyRevision, ModernRevision } from '../../era/revisions.js';
import type { Complaint } from './complaint.js';

export { type Complaint, complaintText } from './complaint.js';
export type Revision = LegacyRevision | ModernRevision;

/** `method` is that of the request; paths begin with `result`. A method that nobody knows has no complaints. */
export function judgeResult(_method: string, _result: unknown, _revision: Revision): Complaint[] {
  return [];
}

/** Paths begin with `params`. */
export function judgeNotification(_method: string, _params: unknown, _revision: Revision): Complaint[] {
  return [];
}

/** A request of the server to the client, which only legacy revisions have; paths begin with `params`. */
export function judgeServerRequest(_method: string, _params: unknown, _revision: Revision): Complaint[] {
  return [];
}

/** The `error` member of an answer; paths begin with `error`. */
export function judgeError(_error: unknown, _revision: Revision): Complaint[] {
  return [];
}

/** The envelope alone. An array is a batch, which only 2025-03-26 has: without a revision it is a complaint. */
export function judgeMessage(_json: unknown, _revision?: Revision): Complaint[] {
  return [];
}
