import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listenForCallback } from '../../src/oauth/callback-listener.js';

async function listening() {
  const listener = await listenForCallback({
    ...{ host: '127.0.0.1', port: 0, path: '/callback', state: 'the-state' },
  });
  onTestFinished(() => listener.close());
  const { port } = new URL(listener.redirectUri);
  /** The first line of the answer to a request as it is. */
  const raw = async (line: string, host = `127.0.0.1:${port}`) => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`${line} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
    let text = '';
    socket.on('data', (data) => {
      text += String(data);
    });
    await once(socket, 'close');
    return text.split('\r\n')[0];
  };
  return { listener, raw };
}

describe('the listener for the browser', () => {
  it('goes on after requests that are not the response', async () => {
    const { listener, raw } = await listening();
    const refused = 'HTTP/1.1 400 Bad Request';
    for (const line of [
      'GET //',
      'GET http://',
      'GET /',
      'GET /callback',
      'GET /callback?state=x',
      'POST /callback?state=the-state',
    ]) {
      expect([line, await raw(line)]).toEqual([line, refused]);
    }
    expect(await raw('GET /callback?state=the-state', 'evil.example')).toBe(refused);
    const page = raw('GET /callback?state=the-state&code=c');
    expect((await listener.arrived).get('code')).toBe('c');
    expect(await raw('GET /callback?state=the-state&code=d')).toBe(refused);
    listener.answer(true);
    expect(await page).toBe('HTTP/1.1 200 OK');
  });
});
