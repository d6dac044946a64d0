import { expect, it } from 'vitest';
import { checkServer } from '../../src/index.js';
import { IN_A_HURRY } from '../support/suites/expect-caught.js';
import type { Middle } from '../support/suites/mutant.js';
import { middleTarget } from '../support/suites/stream-middle.js';

/** Does not understand CRLF any more once it has seen a line of HTTP, or never has. */
function confused(isFromTheStart: boolean): () => Middle {
  return () => {
    let isConfused = isFromTheStart;
    return {
      incomingBytes(bytes) {
        const text = bytes.toString();
        isConfused ||= text.startsWith('GET ');
        return isConfused && text.endsWith('\r\n') ? undefined : bytes;
      },
    };
  };
}

async function outcomes(middle: () => Middle): Promise<Record<string, string>> {
  const { target, close } = await middleTarget(middle);
  try {
    const only = ['bytes/survives-text', 'bytes/white-space'];
    const { findings } = await checkServer(target, { ...IN_A_HURRY, only });
    return Object.fromEntries(findings.map(({ id, outcome }) => [id, outcome]));
  } finally {
    await close();
  }
}

it('does not hold against a server what an earlier check has done to the same connection', async () => {
  expect(await outcomes(confused(false))).toEqual({
    'bytes/survives-text': 'pass',
    'bytes/white-space': 'pass',
  });
});

it('holds against a server what it does on a new connection, too', async () => {
  expect(await outcomes(confused(true))).toEqual({
    'bytes/survives-text': 'pass',
    'bytes/white-space': 'warn',
  });
});
