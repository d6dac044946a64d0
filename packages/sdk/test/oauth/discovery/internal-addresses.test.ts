import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
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
    'https://a.localhost:PORT/',
  ])('learns nothing from %s: it is not connected to', async (url) => {
    let connections = 0;
    const canary = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    canary.listen(0);
    await once(canary, 'listening');
    onTestFinished(() => void canary.close());
    const rule = addressRule({ server: new URL('https://mcp.example.com/mcp'), allowPrivate: false });
    const http = createOAuthHttp({ rule, timeoutMs: 2000 });
    const target = new URL(url.replace('PORT', String((canary.address() as AddressInfo).port)));
    await expect(http.send(target, { method: 'GET' })).rejects.toThrow(
      /is a private address, which is refused|is neither https nor a loopback address, which is refused/,
    );
    expect(connections).toBe(0);
  });
});
