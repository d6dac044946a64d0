import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runTranscript } from './run-transcript.js';

const here = new URL('./', import.meta.url);
const files = readdirSync(here).filter((name) => name.endsWith('.transcript'));

describe('a server held to its transcripts', () => {
  for (const name of files) {
    const text = readFileSync(new URL(name, here), 'utf8');
    const title = /^# (.*)/.exec(text)?.[1] ?? 'no title';
    it(`${name}: ${title}`, () => runTranscript(text));
  }

  it('keeps a reason with rule ids at the head of every transcript', () => {
    for (const name of files) {
      const head = readFileSync(new URL(name, here), 'utf8').split(/\n(?!#)/)[0];
      expect(head, name).toMatch(/[A-Z]+-\d{3}/);
    }
  });
});

describe('the transcript runner', () => {
  const PING = '> {"jsonrpc":"2.0","id":1,"method":"ping"}\n';
  const PONG = '< {"jsonrpc":"2.0","id":1,"result":{}}\n';

  it('passes what happens', () => runTranscript(PING + PONG));

  it('notices another value', async () => {
    await expect(runTranscript(`${PING}< {"jsonrpc":"2.0","id":"1","result":{}}`)).rejects.toThrow(
      'line 2: .id should be "1", is 1',
    );
  });

  it('notices a missing and a surplus member', async () => {
    await expect(runTranscript(`${PING}< {"jsonrpc":"2.0","id":1,"result":{"a":1}}`)).rejects.toThrow(
      'line 2: .result.a is missing',
    );
    await expect(runTranscript(`${PING}< {"jsonrpc":"2.0","id":1}`)).rejects.toThrow(
      'line 2: the message has a surplus member result',
    );
    await runTranscript(`${PING}< {"jsonrpc":"2.0","id":1,"…":"…"}`);
  });

  it('notices a message too many, in the middle and at the end', async () => {
    await expect(runTranscript(`${PING}(nothing)\n${PONG}`)).rejects.toThrow('line 2: expected nothing');
    await expect(runTranscript(PING)).rejects.toThrow('line the end: expected nothing');
  });

  it('notices that the server has closed instead of answering', async () => {
    await expect(runTranscript(`!end\n${PONG}`)).rejects.toThrow('line 2: the server closed the connection');
  });
});
