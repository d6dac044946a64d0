import { describe, expect, it } from 'vitest';
import {
  judgeError,
  judgeMessage,
  judgeNotification,
  judgeResult,
  judgeServerRequest,
  type Revision,
} from '../../src/shapes/index.js';
import { type Heard, listenToDemo } from '../support/shapes/demo-frames.js';
import { REVISIONS, said } from '../support/shapes/said.js';

function complaints({ message, asked }: Heard, revision: Revision): string[] {
  const envelope = judgeMessage(message, revision);
  const { id, method, params, result, error } = message;
  if (error !== undefined) return said([...envelope, ...judgeError(error, revision)]);
  if (method === undefined) return said([...envelope, ...judgeResult(String(asked), result, revision)]);
  const judge = id === undefined ? judgeNotification : judgeServerRequest;
  return said([...envelope, ...judge(method, params, revision)]);
}

describe('the demo', () => {
  it.each(REVISIONS)('has no complaints in %s', async (revision) => {
    const heard = await listenToDemo(revision);
    expect(heard.flatMap((each) => complaints(each, revision))).toEqual([]);
    const kinds = new Set(heard.map(({ message, asked }) => asked ?? message.method));
    expect([...kinds]).toEqual(
      expect.arrayContaining([
        'tools/call',
        'prompts/get',
        'resources/read',
        'resources/templates/list',
        'completion/complete',
        'notifications/progress',
        'notifications/message',
        'notifications/tools/list_changed',
        ...(revision === '2026-07-28'
          ? ['server/discover', 'notifications/subscriptions/acknowledged', 'notifications/resources/updated']
          : ['initialize', 'sampling/createMessage', 'roots/list']),
      ]),
    );
  });
});
