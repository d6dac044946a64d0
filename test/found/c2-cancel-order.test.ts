import { checkServer, type Finding } from '@isthmus/check';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { describe, expect, it } from 'vitest';
import type { Middle } from '../../packages/check/test/support/suites/mutant.js';
import { middleTarget } from '../../packages/check/test/support/suites/stream-middle.js';

const CANCELLED = 'notifications/cancelled';

describe('C2: cancellation/no-answer-after counts only answers that come after the cancellation', () => {
  it('C2: does not blame a server that answers before the cancellation is sent', async () => {
    const [finding] = await judge(() => ({
      incoming(message, io) {
        if (message['method'] !== 'tools/call') return message;
        io.reply({ jsonrpc: '2.0', id: message['id'], result: { resultType: 'complete', content: [] } });
        return undefined;
      },
    }));
    expect(finding).toMatchObject({
      outcome: 'skip',
      seen: 'undecided: a call of sleep was always answered before it could be cancelled',
    });
  });

  it('C2: does not blame a server whose answer crosses the cancellation once (STDIO-015)', async () => {
    let crossed = false;
    const [finding] = await judge(() => ({
      incoming(message, io) {
        if (message['method'] !== CANCELLED || crossed) return message;
        crossed = true;
        io.reply({ jsonrpc: '2.0', id: requestIdOf(message), result: { content: [] } });
        return message;
      },
    }));
    expect(crossed).toBe(true);
    expect(finding).toMatchObject({ outcome: 'pass' });
  });

  it('C2: warns when every cancellation is answered at once', async () => {
    const [finding] = await judge(() => ({
      incoming(message, io) {
        if (message['method'] !== CANCELLED) return message;
        io.reply({
          jsonrpc: '2.0',
          id: requestIdOf(message),
          error: { code: -32800, message: 'cancelled' },
        });
        return message;
      },
    }));
    expect(finding).toMatchObject({ outcome: 'warn', expected: 'no answer' });
  });

  it('C2: warns when the work goes on and its answer comes after the next answer (CANC-007)', async () => {
    const [finding] = await judge(() => ({
      incoming: (message) => (message['method'] === CANCELLED ? undefined : message),
    }));
    expect(finding).toMatchObject({ outcome: 'warn', expected: 'no answer' });
  });
});

async function judge(middle: () => Middle): Promise<readonly Finding[]> {
  const { target, close } = await middleTarget(middle);
  try {
    const report = await checkServer(target, {
      only: ['cancellation/no-answer-after'],
      eras: ['modern'],
      visit: [],
      patience: { helloMs: 20_000, answerMs: 10_000, quietMs: 50, checkMs: 25_000 },
    });
    return report.findings;
  } finally {
    await close();
  }
}

function requestIdOf(message: JsonObject): unknown {
  return isJsonObject(message['params']) ? message['params']['requestId'] : undefined;
}
