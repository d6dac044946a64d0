import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { hostname } from 'node:os';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { addressRule } from '../../../src/oauth/discovery/addresses.js';
import { createOAuthHttp } from '../../../src/oauth/discovery/oauth-http.js';

describe('a server that names addresses inside of the network (AUTH-G-011, AUTH-C-024)', () => {
  it.each([
    ...['https://127.0.0.1:PORT/', 'https://localhost:PORT/', 'https://[::1]:PORT/'],
    // Decimal, octal, hexadecimal, with parts left out.
    ...[
      'https://2130706433:PORT/',
      'https://0177.0.0.1:PORT/',
      'https://0x7f000001:PORT/',
      'https://127.1:PORT/',
    ],
    ...['https://0:PORT/', 'https://127.0.0.1.:PORT/', 'https://１２７.0.0.1:PORT/'],
    // IPv4 inside of IPv6: mapped, compatible, translated, 6to4.
    ...['https://[::ffff:127.0.0.1]:PORT/', 'https://[::127.0.0.1]:PORT/', 'https://[64:ff9b::7f00:1]:PORT/'],
    ...['https://[2002:7f00:1::]:PORT/', 'https://[fec0::1]:PORT/', 'https://[fd00::1]:PORT/'],
    // The service for the metadata of a cloud.
    ...[
      'https://169.254.169.254/',
      'https://2852039166/',
      'https://0251.0376.0251.0376/',
      'https://0xA9FEA9FE/',
    ],
    ...[
      'https://[::ffff:a9fe:a9fe]/',
      'https://[fe80::a9fe:a9fe]/',
      'http://169.254.169.254/latest/meta-data/',
    ],
    ...['https://a.localhost:PORT/', 'https://localhost.:PORT/'],
  ])('learns nothing from %s: it is not connected to', async (url) => {
    const canary = await listening();
    await expect(send(url.replace('PORT', canary.port))).rejects.toThrow(
      /is a private address, which is refused|is neither https nor a loopback address, which is refused/,
    );
    expect(canary.connections()).toBe(0);
  });

  it('learns nothing by the name of this machine, also where a proxy is left out for it (NO_PROXY)', async () => {
    const [canary, proxy] = [await listening(), await listening('HTTP/1.1 403 Forbidden\r\n\r\n')];
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv('https_proxy', `http://127.0.0.1:${proxy.port}`);
    vi.stubEnv('no_proxy', hostname());
    // Where the name is unknown, it cannot be reached either.
    await expect(send(`https://${hostname()}:${canary.port}/`)).rejects.toThrow(
      /is a private address, which is refused|ENOTFOUND|EAI_AGAIN/,
    );
    expect([canary.connections(), proxy.connections()]).toEqual([0, 0]);
    vi.stubEnv('no_proxy', '');
    await expect(send(`https://${hostname()}:${canary.port}/`)).rejects.toThrow('cannot be reached');
    expect([canary.connections(), proxy.connections()]).toEqual([0, 1]);
  });
});

/** A server on this machine that counts its connections. */
async function listening(answer?: string) {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => {});
    if (answer === undefined) socket.destroy();
    else socket.end(answer);
  });
  server.listen(0);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { port: String((server.address() as AddressInfo).port), connections: () => connections };
}

function send(url: string): Promise<Response> {
  const rule = addressRule({ server: new URL('https://mcp.example.com/mcp'), allowPrivate: false });
  return createOAuthHttp({ rule, timeoutMs: 2000 }).send(new URL(url), { method: 'GET' });
}
