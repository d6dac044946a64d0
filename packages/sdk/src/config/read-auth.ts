import { resolve } from 'node:path';
import { type DocumentTable, isTable, type Path } from './documents/document.js';
import type { Fields, Variables } from './expand.js';
import { notKnown } from './options/option-kinds.js';
import { given, type UrlAuth } from './server-spec.js';

/**
 * Reads `auth` of a URL: the name of a mode, or an object with `mode`. Other applications have a key of this name, too, so
 * anything without one of our modes is left alone, with a warning.
 */
export function readAuth(table: DocumentTable, fields: Fields, variables: Variables): UrlAuth | undefined {
  const value = table.get('auth') ?? undefined;
  if (value === undefined) return undefined;
  const { report } = fields;
  const at = [...fields.path, 'auth'];
  const block = isTable(value) ? value : undefined;
  const named = block ? block.get('mode') : value;
  const mode = typeof named === 'string' ? MODES.get(named) : undefined;
  if (mode === undefined) {
    const where = block?.has('mode') ? [...at, 'mode'] : at;
    report.warning(where, `is not used: the modes are ${[...MODES.keys()].join(', ')}`);
    return undefined;
  }
  const read = readBlock(mode, block, at, fields, variables);
  checkWhole(read, at, fields);
  return read;
}

/** In files it is called as the command is. */
const MODES: ReadonlyMap<string, UrlAuth['mode']> = new Map([
  ['login', 'stored'],
  ['client-credentials', 'client-credentials'],
  ['token-exchange', 'token-exchange'],
  ['per-user', 'per-user'],
] as const);

const TEXTS = ['clientId', 'clientSecret', 'issuer', 'tokenEndpoint', 'audience'] as const;
const FILES = ['clientSecretFile', 'privateKeyFile'] as const;
const KEY_TEXTS = ['keyAlgorithm', 'keyId'] as const;
const FLAGS = ['assumePkce', 'allowPrivate', 'clientMetadata'] as const;
const NAMES: readonly string[] = ['mode', ...TEXTS, ...FILES, ...KEY_TEXTS, 'scopes', 'resource', ...FLAGS];

function readBlock(
  mode: UrlAuth['mode'],
  block: DocumentTable | undefined,
  at: Path,
  fields: Fields,
  { workspaceFolder }: Variables,
): UrlAuth {
  const { report } = fields;
  for (const name of block?.keys() ?? []) {
    if (!NAMES.includes(name)) report.error([...at, name], notKnown(name, NAMES));
  }
  const text = (name: string) => fields.text(block?.get(name), [...at, name]);
  const file = (name: string) => {
    const path = text(name);
    return path === undefined ? undefined : { file: resolve(workspaceFolder, path) };
  };
  const [clientId, clientSecret, issuer, tokenEndpoint, audience] = TEXTS.map(text);
  const [secretFile, pem] = FILES.map(file);
  const [algorithm = 'ES256', keyId] = KEY_TEXTS.map(text);
  if (clientSecret !== undefined && secretFile) {
    report.error([...at, 'clientSecretFile'], 'cannot be set beside clientSecret');
  }
  for (const [name, url] of Object.entries({ issuer, tokenEndpoint })) {
    if (url !== undefined && !/^https?:\/\//.test(url)) {
      report.error([...at, name], 'must be a URL that begins with https://');
    }
  }
  const resource = block?.get('resource');
  const [assumePkce, allowPrivateAddresses, clientMetadata] = FLAGS.map((name) => {
    const flag = block?.get(name);
    if (flag !== undefined && typeof flag !== 'boolean') report.error([...at, name], 'must be true or false');
    return flag === true || undefined;
  });
  const scopes = block?.has('scopes') ? fields.texts(block.get('scopes'), [...at, 'scopes']) : undefined;
  return {
    mode,
    ...given({
      ...{ clientId, clientSecret: clientSecret ?? secretFile, issuer, tokenEndpoint, audience, scopes },
      privateKey: pem && { pem, algorithm, ...given({ keyId }) },
      resource: resource === false ? resource : text('resource'),
      ...{ assumePkce, allowPrivateAddresses, clientMetadata },
    }),
  };
}

/** What a mode needs. */
function checkWhole(auth: UrlAuth, at: Path, { report }: Fields): void {
  const { mode, clientId, clientSecret, privateKey, issuer, tokenEndpoint, audience, clientMetadata } = auth;
  const hasSecret = clientSecret !== undefined || privateKey !== undefined;
  const isLogin = mode === 'stored' || mode === 'per-user';
  if (!isLogin && (clientId === undefined || !hasSecret)) {
    report.error(at, 'needs a clientId, and a clientSecret, a clientSecretFile or a privateKeyFile');
  } else if (hasSecret && clientId === undefined)
    report.error(at, 'has a secret or a key, which needs a clientId');
  if (audience !== undefined && mode !== 'token-exchange') {
    report.error([...at, 'audience'], 'is only for token-exchange');
  }
  if (clientMetadata && (mode !== 'per-user' || clientId !== undefined)) {
    report.error([...at, 'clientMetadata'], 'is only for per-user, and not beside a clientId');
  }
  // The server must not choose where a secret goes.
  if (clientSecret !== undefined && issuer === undefined && tokenEndpoint === undefined) {
    report.error(at, 'has a secret, which needs the issuer that it belongs to, or its tokenEndpoint');
  } else if (mode === 'token-exchange' && issuer === undefined && tokenEndpoint === undefined) {
    report.error(at, 'needs the issuer that gets the tokens of the callers, or its tokenEndpoint');
  }
}
