import type { Complaint } from '@isthmus/check/internal/shapes/index.js';
import type { MessageToJudge } from '@isthmus/console/internal/frames/frame-schema.js';
import { isLegacyRevision, isModernRevision } from '@isthmus/sdk/internal/era/revisions.js';

/** Says what does not fit the schema of the revision, as the referee sees it. */
export async function judgeMessage(judged: MessageToJudge): Promise<readonly string[] | undefined> {
  const { kind, method, revision, message } = judged;
  if (!isModernRevision(revision) && !isLegacyRevision(revision)) return undefined;
  const shapes = await import('@isthmus/check/internal/shapes/index.js');
  const judge = (): Complaint[] => {
    switch (kind) {
      case 'result':
        return shapes.judgeResult(method, message['result'], revision);
      case 'error':
        return shapes.judgeError(message['error'], revision);
      case 'notification':
        return shapes.judgeNotification(method, message['params'], revision);
      case 'request':
        return shapes.judgeServerRequest(method, message['params'], revision);
    }
  };
  return [...shapes.judgeMessage(message, revision), ...judge()].map(shapes.complaintText);
}
