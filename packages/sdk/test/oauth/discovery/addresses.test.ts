import { describe, expect, it } from 'vitest';
import { addressRule, isLoopbackHost, isPrivate } from '../../../src/oauth/discovery/addresses.js';

const remote = addressRule({ server: new URL('https://mcp.example.com/mcp'), allowPrivate: false });
const local = addressRule({ server: new URL('http://127.0.0.1:3000/mcp'), allowPrivate: false });

describe('addresses that the metadata of a server may lead to (AUTH-C-023, AUTH-C-024)', () => {
  it.each(['https://auth.example.com/token', 'https://8.8.8.8/token'])('%s is allowed', (url) => {
    expect(remote.refuses(new URL(url))).toBeUndefined();
  });

  it.each([
    ['http://auth.example.com/', 'http://auth.example.com is neither https nor a loopback address'],
    ['javascript:alert(1)', 'javascript:// is neither https nor a loopback address'],
    ['file:///etc/passwd', 'file:// is neither https nor a loopback address'],
    ['https://169.254.169.254/latest', '169.254.169.254 is a private address'],
    ['https://0x7f.1/', '127.0.0.1 is a private address'],
    ['https://017700000001/', '127.0.0.1 is a private address'],
    ['https://[::1]/', '::1 is a private address'],
    ['https://[::ffff:10.0.0.1]/', '::ffff:a00:1 is a private address'],
    ['https://[fd00::1]/', 'fd00::1 is a private address'],
    ['https://localhost/', 'localhost is a private address'],
    ['https://a.localhost/', 'a.localhost is a private address'],
    ['https://user:pw@auth.example.com/', 'auth.example.com comes with a user and a password'],
  ])('%s is refused', (url, why) => {
    expect(remote.refuses(new URL(url))).toBe(why);
  });

  it('a name that resolves to a private address is refused, and the name of the server itself is not', () => {
    expect(remote.refusesAddress('auth.example.com', '10.1.2.3')).toBe(
      'auth.example.com is a private address',
    );
    expect(remote.refusesAddress('auth.example.com', '93.184.216.34')).toBeUndefined();
    expect(remote.refusesAddress('mcp.example.com', '10.1.2.3')).toBeUndefined();
  });

  it('a server on this machine may lead to this machine, and not to the network around it', () => {
    expect(local.refuses(new URL('http://localhost:4000/token'))).toBeUndefined();
    expect(local.refuses(new URL('https://192.168.0.1/token'))).toBe('192.168.0.1 is a private address');
  });

  it('private addresses can be allowed, plain http cannot', () => {
    const open = addressRule({ server: new URL('https://mcp.example.com/mcp'), allowPrivate: true });
    expect(open.refuses(new URL('https://10.0.0.1/token'))).toBeUndefined();
    expect(open.refuses(new URL('http://10.0.0.1/token'))).toBe(
      'http://10.0.0.1 is neither https nor a loopback address',
    );
  });

  it('knows which addresses are private and which are loopback', () => {
    expect(['100.64.0.1', '172.31.255.255', '0.0.0.0', 'fe80::1', '64:ff9b::a00:1'].map(isPrivate)).toEqual(
      Array(5).fill(true),
    );
    expect(['172.32.0.1', '1.1.1.1', '2606:4700::1', 'example.com'].map(isPrivate)).toEqual(
      Array(4).fill(false),
    );
    expect(['127.9.9.9', '::1', '[::1]', 'localhost'].map(isLoopbackHost)).toEqual(Array(4).fill(true));
    expect(['128.0.0.1', 'localhost.example.com'].map(isLoopbackHost)).toEqual([false, false]);
  });
});
