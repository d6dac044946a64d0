import { basename, relative } from 'node:path';
import { quote } from '../target.js';

/** What people paste into a host to connect it to an address. */
export interface PasteOptions {
  /** The name of the server in the host. */
  readonly name: string;
  readonly url: string;
  /** Whether clients have to send a key. The lines name it as the variable KEY. */
  readonly needsKey: boolean;
}

/** A label and a line for each known host. */
export function pasteLines({ name, url, needsKey }: PasteOptions): readonly (readonly [string, string])[] {
  const id = hostId(name);
  const headers = needsKey ? { headers: { Authorization: `Bearer \${env:KEY}` } } : {};
  const cursor = { mcpServers: { [id]: { url, ...headers } } };
  const code = { servers: { [id]: { type: 'http', url, ...headers } } };
  const header = needsKey ? ` --header ${BEARER}` : '';
  return [
    ['Claude Code', `claude mcp add --transport http ${id} ${quote(url)}${header}`],
    ['Cursor', JSON.stringify(cursor)],
    ['VS Code', JSON.stringify(code)],
  ];
}

/** A name that every host takes: letters, digits, - and _. Of an address, its host or the name of its socket. */
export function hostId(name: string): string {
  const place =
    /^https?:\/\/([^/:]+)/i.exec(name)?.[1] ?? (/^(unix|tcp):/.test(name) ? basename(name) : name);
  const id = place.replace(/[^\w-]+/g, '-').replace(/^-+|-+$/g, '');
  return id === '' ? 'server' : id;
}

/** A modern and a legacy request, to see the protocol itself. */
export function curlLines(address: string, needsKey: boolean): string[] {
  const who = needsKey ? `-H ${BEARER} ` : '';
  const post = `curl -s ${address} ${who}-H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream'`;
  const clientInfo = { name: 'curl', version: '0' };
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': clientInfo,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const discover = { jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta: meta } };
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
  };
  return [
    `${post} -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: server/discover' -d '${JSON.stringify(discover)}'`,
    `${post} -d '${JSON.stringify(initialize)}'`,
  ];
}

/** The shell replaces the variable, so the key is not in its history. */
export const BEARER = '"Authorization: Bearer $KEY"';

/** How this program was called: installed, by npx, or the script of a checkout. */
export function howWeWereCalled(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const script = process.argv[1] ?? '';
  if (basename(script) === 'isthmus.js') return `node ${relative(process.cwd(), script)}`;
  return env['npm_command'] === 'exec' ? 'npx isthmus' : 'isthmus';
}
