import { readFileSync } from 'node:fs';
import type { CallerLoginOptions } from '@isthmus/gateway/internal/gateway.js';
import { reasonWithoutPath } from '@isthmus/sdk/internal/errors.js';
import { usageError } from '../../cli-error.js';
import type { ServeCommandOptions } from '../serve-options.js';

/** How callers log in to servers themselves (`per-user`), from the command line. */
export function readConnectOptions(options: ServeCommandOptions): CallerLoginOptions | undefined {
  const identity = identityOf(options);
  const store = storeOf(options);
  return identity || store ? { identity, store } : undefined;
}

function identityOf(options: ServeCommandOptions): CallerLoginOptions['identity'] {
  const { connectClient: clientId, connectSecretFile: file, authServer = [], resource, jwtScope } = options;
  if (clientId === undefined) {
    if (file === undefined) return undefined;
    throw usageError('--connect-secret-file belongs to a client', 'Add --connect-client ID');
  }
  const [issuer] = authServer;
  if (issuer === undefined) {
    throw usageError(
      '--connect-client needs the authorization server that it is registered at',
      'Add --auth-server URL and --resource URL',
    );
  }
  const clientSecret = file === undefined ? {} : { clientSecret: { file } };
  return { issuer, clientId, ...clientSecret, resource, scopes: jwtScope };
}

function storeOf({ loginFolder: folder, loginKey }: ServeCommandOptions): CallerLoginOptions['store'] {
  if (folder === undefined && loginKey === undefined) return undefined;
  if (folder === undefined || loginKey === undefined) {
    throw usageError('--login-folder and --login-key belong together', 'Give both, or none of them');
  }
  return { folder, keys: keysIn(loginKey) };
}

function keysIn(file: string): readonly string[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw usageError(`The file of --login-key cannot be read: ${reasonWithoutPath(error)}`, HINT);
  }
  const lines = text.split('\n').map((line) => line.trim());
  const keys = lines.filter((line) => line !== '' && !line.startsWith('#'));
  const isKey = (key: string) => /^[\w-]{43}$/.test(key);
  if (keys.length > 0 && keys.every(isKey)) return keys;
  throw usageError('The file of --login-key must have keys of 32 bytes as base64url, one a line', HINT);
}

const HINT = `Make one: node -p "crypto.randomBytes(32).toString('base64url')" > FILE; chmod 600 FILE`;
