import { memberProblems } from './known-members.js';
import { zodProblems } from './official-zod.js';
import type { Frame, Life } from './recording.js';
import type { Json, Revision } from './revision.js';

/** What is wrong with one frame of a server; `asked` is the method of the request that it answers. */
export function judgeFrame(frame: Json, asked: string | undefined, revision: Revision): string[] {
  return [...memberProblems(frame, asked, revision), ...zodProblems(frame, asked, revision)];
}

/** Everything that is wrong with what a server sent in its life, each with the frame that it is about. */
export function judgeLife({ frames, garbage }: Life, revision: Revision): string[] {
  return [...garbage.map((line) => `not JSON: ${line}`), ...judgeFrames(frames, revision)];
}

export function judgeFrames(frames: readonly Frame[], revision: Revision): string[] {
  const asked = new Map<string, string>();
  const found: string[] = [];
  const progress = new Map<string, number>();
  const tokens = new Map<string, string>();
  for (const { from, message } of frames) {
    if (from === 'client') {
      if (message['method'] !== undefined && message['id'] !== undefined) {
        asked.set(JSON.stringify(message['id']), String(message['method']));
        const token = (message['params'] as { _meta?: Json } | undefined)?._meta?.['progressToken'];
        if (token === undefined) continue;
        tokens.set(JSON.stringify(message['id']), JSON.stringify(token));
        progress.set(JSON.stringify(token), Number.NEGATIVE_INFINITY);
      }
      continue;
    }
    const method = message['method'] === undefined ? asked.get(JSON.stringify(message['id'])) : undefined;
    const problems = judgeFrame(message, method, revision);
    if (message['method'] === 'notifications/progress') {
      const params = message['params'] as Json;
      const token = JSON.stringify(params['progressToken']);
      const before = progress.get(token);
      if (before === undefined)
        problems.push('progress of a request that is not running (PROG-007, PROG-008)');
      else if (!((params['progress'] as number) > before)) problems.push('progress does not rise (PROG-004)');
      else progress.set(token, params['progress'] as number);
    } else if (message['method'] === undefined) {
      const token = tokens.get(JSON.stringify(message['id']));
      if (token !== undefined) progress.delete(token);
    }
    for (const problem of problems) found.push(`${problem}\n    in ${excerpt(message)}`);
  }
  return found;
}

function excerpt(message: Json): string {
  const text = JSON.stringify(message);
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}
