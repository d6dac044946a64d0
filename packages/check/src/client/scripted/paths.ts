/** Where a scripted server speaks MCP. */
export const MCP_PATH = '/mcp';

/** Where messages go in the HTTP+SSE transport of 2024-11-05: what its `endpoint` event names. */
export const ENDPOINT = '/messages?session=one';

/** Every other path is for something else: metadata, registration and tokens of OAuth, pages, schemas. */
export function isMcpPath(path: string): boolean {
  const [plain] = path.split('?');
  return plain === MCP_PATH || path === ENDPOINT;
}
