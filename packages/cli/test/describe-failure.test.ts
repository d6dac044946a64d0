import { IsthmusError, ProtocolError } from '@isthmus/sdk/internal/errors.js';
import { describeFailure } from 'isthmus/internal/describe-failure.js';
import { targetAt } from 'isthmus/internal/target.js';
import { describe, expect, it } from 'vitest';

describe('what to do about a URL that does not answer as an MCP server', () => {
  const hintFor = (url: string, error: IsthmusError) =>
    describeFailure(error, {
      target: targetAt(url)!,
      label: url,
      connected: false,
      mode: 'auto',
      stderrTail: [],
    }).hint;

  it('names the usual paths, and the whole URL where there is no path', () => {
    const absent = new IsthmusError('HTTP_STATUS', 'answered with HTTP 404', { status: 404 });
    expect(hintFor('http://127.0.0.1:8080', absent)).toBe(
      'Is the path missing? It is often /mcp or /sse: isthmus probe http://127.0.0.1:8080/mcp',
    );
    expect(hintFor('http://127.0.0.1:8080/mpc', absent)).toBe(
      'Is that the URL of an MCP server? Its path is often /mcp or /sse',
    );
  });

  it('names the log of the server for its own errors', () => {
    const failed = new IsthmusError('HTTP_STATUS', 'answered with HTTP 500', { status: 500 });
    expect(hintFor('http://127.0.0.1:8080/mcp', failed)).toBe('The log of the server may have the reason');
  });

  it('names https where a connection without TLS was closed', () => {
    const cause = new Error('other side closed');
    const closed = new IsthmusError('CONNECTION_CLOSED', 'The connection was lost', { cause });
    const path = 'Is that the URL of an MCP server? Its path is often /mcp or /sse';
    expect(hintFor('http://127.0.0.1:8080/mcp', closed)).toBe(
      `Does the server need https:// instead of http://? ${path}`,
    );
    expect(hintFor('https://127.0.0.1:8080/mcp', closed)).toBe(path);
    expect(hintFor('http://127.0.0.1:8080/mcp', new IsthmusError('CONNECTION_CLOSED', 'No result'))).toBe(
      path,
    );
  });

  it('does not advise a header where one was sent', () => {
    const refused = new IsthmusError('UNAUTHORIZED', 'answered with HTTP 401', { status: 401 });
    const target = { ...targetAt('http://127.0.0.1:8080/mcp')!, headers: { authorization: 'Bearer x' } };
    const context = { label: 'x', connected: false, mode: 'auto', stderrTail: [] };
    expect(describeFailure(refused, { ...context, target } as never).hint).toBe(
      'The server does not accept the Authorization that was sent: is the key or token right, still valid, and for this server?',
    );
    const off = new ProtocolError(-32603, 'a is switched off', { reason: 'DISABLED' });
    expect(describeFailure(off, { ...context, target, connected: true } as never).hint).toBe(
      'isthmus start NAME starts it again, on the machine of the gateway; "disabled" in the file of the gateway keeps it off',
    );
  });

  it('asks for the URL first where the answer is a web page', () => {
    const page = new IsthmusError('NO_COMMON_REVISION', 'answered with text/html instead of JSON');
    expect(hintFor('http://127.0.0.1:8080/docs', page)).toBe(
      'Is that the URL of an MCP server? Its path is often /mcp or /sse. If it is one, it may need a newer isthmus',
    );
  });
});
