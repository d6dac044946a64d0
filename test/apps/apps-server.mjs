// An MCP Apps server, made with the official helpers, over stdio:
//   node test/apps/apps-server.mjs NAME
// It has a tool with a user interface, and one that only this interface calls.
import {
  getUiCapability,
  RESOURCE_MIME_TYPE,
  registerAppResource,
  registerAppTool,
} from '@modelcontextprotocol/ext-apps/server';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const [, , name = 'apps'] = process.argv;
const VIEW = 'ui://view';

serveStdio(() => {
  const server = new McpServer(
    { name, version: '1.0.0' },
    { capabilities: { extensions: { 'io.modelcontextprotocol/ui': {} } } },
  );
  registerAppTool(
    server,
    'show',
    { description: 'Shows it', _meta: { ui: { resourceUri: VIEW, visibility: ['model', 'app'] } } },
    async () => ({
      content: [{ type: 'text', text: name }],
      structuredContent: { name },
      _meta: { 'com.example/for-the-view': name },
    }),
  );
  registerAppTool(
    server,
    `refresh_${name}`,
    { description: 'Only for the view', _meta: { ui: { resourceUri: VIEW, visibility: ['app'] } } },
    async () => ({ content: [{ type: 'text', text: `${name} again` }] }),
  );
  server.registerTool('declared', { description: 'What the client declared' }, async (ctx) => {
    const declared =
      ctx.mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities'] ??
      server.server.getClientCapabilities();
    return { content: [{ type: 'text', text: JSON.stringify(getUiCapability(declared) ?? null) }] };
  });
  const csp = { connectDomains: ['https://tiles.example.com'] };
  registerAppResource(
    server,
    `${name} view`,
    VIEW,
    { _meta: { ui: { csp, prefersBorder: true } } },
    async () => ({
      contents: [{ uri: VIEW, mimeType: RESOURCE_MIME_TYPE, text: `<p>${name}</p>`, _meta: { ui: { csp } } }],
    }),
  );
  return server;
});
