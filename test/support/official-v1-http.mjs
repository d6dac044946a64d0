// A server of the official v1 SDK over Streamable HTTP, with sessions, for the programs of the tests.
import { randomUUID } from 'node:crypto';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

/**
 * A request listener with one server and transport for each session. A session that it does not know gets 404.
 * `forget` drops all sessions, as a restart does, and returns how many there were.
 */
export function v1Sessions(createServer, options = {}) {
  const sessions = new Map();
  const handle = async (request, response) => {
    const id = request.headers['mcp-session-id'];
    const known = sessions.get(id);
    // `body`: express has read it.
    if (known) return known.handleRequest(request, response, request.body);
    if (id !== undefined) return response.writeHead(404).end();
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (session) => sessions.set(session, transport),
      onsessionclosed: (session) => sessions.delete(session),
      ...options,
    });
    await createServer().connect(transport);
    await transport.handleRequest(request, response, request.body);
  };
  const forget = async () => {
    const count = sessions.size;
    await Promise.all([...sessions.values()].map((transport) => transport.close()));
    sessions.clear();
    return count;
  };
  return { handle, forget };
}
