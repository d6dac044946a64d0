import { describe, expect, it } from 'vitest';
import {
  ask,
  legacyRequest,
  openSession,
  plainServer,
  serveHttp,
} from '../../packages/sdk/test/support/http-server.js';

describe('GET and DELETE of a modern client', () => {
  it.each(['GET', 'DELETE'])(
    'P9: %s with MCP-Protocol-Version: 2026-07-28 is answered with 405 and Allow: POST (HTTP-069)',
    async (method) => {
      const { url } = await serveHttp(plainServer());
      const headers = { accept: 'text/event-stream', 'mcp-protocol-version': '2026-07-28' };
      const answer = await ask(url, { method, headers });
      expect([answer.status, answer.headers['allow']]).toEqual([405, 'POST']);
    },
  );

  it('P9: they end no legacy session, even where they name one', async () => {
    const { url } = await serveHttp(plainServer());
    const session = await openSession(url);
    const headers = { 'mcp-session-id': session.id, 'mcp-protocol-version': '2026-07-28' };
    expect((await ask(url, { method: 'DELETE', headers })).status).toBe(405);
    expect((await session.post(legacyRequest(2, 'ping'))).status).toBe(200);
  });

  it('P9: an unknown revision is still refused with 400 (LHTTP-026)', async () => {
    const { url } = await serveHttp(plainServer());
    const headers = { accept: 'text/event-stream', 'mcp-protocol-version': '1999-01-01' };
    expect((await ask(url, { method: 'GET', headers })).status).toBe(400);
  });
});
