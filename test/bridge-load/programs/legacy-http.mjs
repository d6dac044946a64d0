// The official v1 SDK over HTTP with sessions: node legacy-http.mjs [PORT], tells its address on stdout.
// POST /forget drops all sessions, as a server does that was restarted or lets them expire; they are 404 then.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { tellAddress } from './common.mjs';
import { createV1 } from './v1-parts.mjs';

const sessions = new Map();

tellAddress(
  createServer(async (req, res) => {
    if (req.url === '/forget') {
      const count = sessions.size;
      await Promise.all([...sessions.values()].map((transport) => transport.close()));
      sessions.clear();
      return res.end(String(count));
    }
    const id = req.headers['mcp-session-id'];
    const known = sessions.get(id);
    if (known) return known.handleRequest(req, res);
    if (id !== undefined) return res.writeHead(404).end();
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (session) => sessions.set(session, transport),
      onsessionclosed: (session) => sessions.delete(session),
    });
    await createV1().connect(transport);
    await transport.handleRequest(req, res);
  }),
);
