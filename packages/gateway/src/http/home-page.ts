/** The page at `/`, for a person who opens the address in a browser. It names no servers, since anyone may read it. */
export function homePage(
  address: string,
  wantsHtml: boolean,
): { readonly type: string; readonly text: string } {
  if (!wantsHtml) {
    const text = [
      'This is Isthmus, a gateway for MCP servers. Programs connect to it, not browsers.',
      '',
      `MCP address:  ${address}`,
      `Claude Code:  claude mcp add --transport http isthmus ${address}`,
      `Try it:       npx isthmus list ${address}`,
      '',
    ];
    return { type: 'text/plain; charset=utf-8', text: text.join('\n') };
  }
  const shown = escapeHtml(address);
  const json = escapeHtml(JSON.stringify({ mcpServers: { isthmus: { url: address } } }, null, 2));
  const code = escapeHtml(JSON.stringify({ servers: { isthmus: { type: 'http', url: address } } }, null, 2));
  return {
    type: 'text/html; charset=utf-8',
    text: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Isthmus</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem}pre{overflow:auto;padding:.75rem;border:1px solid #8886;border-radius:.4rem}</style>
<h1>Isthmus</h1>
<p>This is a gateway for MCP servers. Programs connect to it, not browsers. Its MCP address is:</p>
<pre>${shown}</pre>
<h2>Connect a client</h2>
<p>Claude Code:</p>
<pre>claude mcp add --transport http isthmus ${shown}</pre>
<p>Cursor, in <code>mcp.json</code>:</p>
<pre>${json}</pre>
<p>VS Code, in <code>.vscode/mcp.json</code>:</p>
<pre>${code}</pre>
<p>The command line:</p>
<pre>npx isthmus list ${shown}</pre>
<p>If the gateway answers 401, ask its operator for a key.</p>
</html>
`,
  };
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
