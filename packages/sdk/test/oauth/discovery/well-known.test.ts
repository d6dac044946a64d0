import { describe, expect, it } from 'vitest';
import { metadataUrls } from '../../../src/oauth/discovery/authorization-server.js';
import { covers, wellKnownResourceUrls } from '../../../src/oauth/discovery/protected-resource.js';

const hrefs = (urls: readonly URL[]) => urls.map(({ href }) => href);

describe('well-known addresses', () => {
  it('of a server: with its path, then without (AUTH-C-011)', () => {
    expect(hrefs(wellKnownResourceUrls(new URL('https://h/public/mcp?a=b')))).toEqual([
      'https://h/.well-known/oauth-protected-resource/public/mcp?a=b',
      'https://h/.well-known/oauth-protected-resource',
    ]);
    expect(hrefs(wellKnownResourceUrls(new URL('https://h')))).toEqual([
      'https://h/.well-known/oauth-protected-resource',
    ]);
  });

  it('of an issuer: never the root form for one with a path (AUTH-C-020)', () => {
    expect(hrefs(metadataUrls(new URL('https://as/tenant1')))).toEqual([
      'https://as/.well-known/oauth-authorization-server/tenant1',
      'https://as/.well-known/openid-configuration/tenant1',
      'https://as/tenant1/.well-known/openid-configuration',
    ]);
    expect(hrefs(metadataUrls(new URL('https://as')))).toEqual([
      'https://as/.well-known/oauth-authorization-server',
      'https://as/.well-known/openid-configuration',
    ]);
  });
});

describe('a resource covers a server (AUTH-C-012)', () => {
  it.each([
    ['https://h/mcp', 'https://h/mcp', true],
    ['https://h/mcp', 'https://h/mcp/x', true],
    ['https://h', 'https://h/mcp', true],
    ['https://h/mcp/', 'https://h/mcp', true],
    ['https://h/mcp', 'https://h/mcpx', false],
    ['https://h/mcp/x', 'https://h/mcp', false],
    ['https://evil/mcp', 'https://h/mcp', false],
    ['http://h/mcp', 'https://h/mcp', false],
    ['not a URL', 'https://h/mcp', false],
  ])('%s and %s: %s', (resource, server, expected) => {
    expect(covers(resource, new URL(server))).toBe(expected);
  });
});
