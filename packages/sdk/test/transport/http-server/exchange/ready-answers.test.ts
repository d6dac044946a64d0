import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { ReadyAnswers } from '../../../../src/transport/http-server/exchange/ready-answers.js';

describe('answers that are ready', () => {
  let sent: string[];
  let ready: ReadyAnswers;
  const response = (destroyed = false) =>
    ({ destroyed, end: (body: string) => sent.push(body) }) as unknown as ServerResponse;

  beforeEach(() => {
    sent = [];
    ready = new ReadyAnswers();
  });

  it('leave together at the end of the turn, in their order', async () => {
    ready.send(response(), 'first');
    ready.send(response(), 'second');
    expect(sent).toEqual([]);
    await turn();
    expect(sent).toEqual(['first', 'second']);
  });

  it('are not written to a client that has gone in the meantime', async () => {
    ready.send(response(true), 'gone');
    ready.send(response(), 'there');
    await turn();
    expect(sent).toEqual(['there']);
  });

  it('wait for at most 31 others', () => {
    for (let count = 1; count < 32; count += 1) ready.send(response(), String(count));
    expect(sent).toEqual([]);
    ready.send(response(), '32');
    expect(sent).toHaveLength(32);
  });

  it('leave at once after four turns with a single answer, for 60 answers', async () => {
    for (const body of ['1', '2', '3', '4']) {
      ready.send(response(), body);
      expect(sent).not.toContain(body);
      await turn();
    }
    for (let count = 1; count <= 60; count += 1) ready.send(response(), 'direct');
    expect(sent).toHaveLength(64);
    ready.send(response(), 'late');
    expect(sent).toHaveLength(64);
    await turn();
    expect(sent.at(-1)).toBe('late');
  });

  it('leave as one text, with their head', async () => {
    const writes: unknown[][] = [];
    const socket = new Writable({
      decodeStrings: false,
      write(chunk, _encoding, done) {
        writes.push([chunk]);
        done();
      },
      writev(chunks, done) {
        writes.push(chunks.map(({ chunk }) => chunk));
        done();
      },
    }) as Socket;
    const ended: string[] = [];
    for (const text of ['{"id":1}', '']) {
      const real = new ServerResponse(new IncomingMessage(socket));
      real.sendDate = false;
      real.assignSocket(socket);
      real.on('finish', () => {
        ended.push(text);
        real.detachSocket(socket);
      });
      real.writeHead(200, ['content-length', String(text.length)]);
      ready.send(real, text);
      await turn();
      await turn();
    }
    const head = 'HTTP/1.1 200 OK\r\ncontent-length: ';
    const more = '\r\nConnection: close\r\n\r\n';
    expect(writes).toEqual([[`${head}8${more}{"id":1}`], [`${head}0${more}`]]);
    expect(ended).toEqual(['{"id":1}', '']);
  });
});
