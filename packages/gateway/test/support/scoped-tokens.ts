import type { AccessSettings } from '@isthmus/sdk/internal/config/gateway/read-access.js';
import type { Authenticate } from '@isthmus/sdk/internal/transport/http-server/options.js';
import { type House, type HouseOptions, openHouse } from './secured-gateway.js';
import { type Build, openFar } from './upstream.js';

/** Takes tokens such as `ada/mcp:read+mcp:write`: a name, and scopes. A token without a slash is a key. */
export const byWrittenToken: Authenticate = (request) => {
  const token = /^Bearer (.+)$/.exec(request.header('authorization') ?? '')?.[1];
  if (token === undefined) return { status: 401 };
  const [name = '', scopes] = token.split('/');
  if (scopes === undefined) return `key:${name}`;
  const own = scopes === '' ? [] : scopes.split('+');
  return { principal: `jwt:https://login.example|${name}`, scopes: own, clientId: `app-of-${name}` };
};

export const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

export const PROTECTED = {
  authorizationServers: ['https://login.example'],
  resource: 'https://gw.example',
};

/** `files` and `mail` with tools that read and tools that write. */
export const withHints: Build = (server) => {
  server.tool('read_one', { annotations: { readOnlyHint: true } }, () => 'read');
  server.tool('write_one', { annotations: { readOnlyHint: false } }, () => 'written');
  server.tool('delete_one', {}, () => 'deleted');
  server.prompt('greet', {}, () => 'Hello');
  server.resource('memo://1', { name: 'memo' }, () => 'memo');
  const { name } = server.info;
  server.resource(`memo://${name}`, { name: `memo of ${name}` }, () => `memo of ${name}`);
};

export async function scopedHouse(access: AccessSettings, options: HouseOptions = {}): Promise<House> {
  const [files, mail] = [
    await openFar(withHints, { name: 'files' }),
    await openFar(withHints, { name: 'mail' }),
  ];
  const stateless = { stateless: true };
  return openHouse([files.unit('files', stateless), mail.unit('mail', stateless)], {
    ...options,
    access,
    endpoint: { authenticate: byWrittenToken, protectedResource: PROTECTED, ...options.endpoint },
  });
}
