import { createPrivateKey } from 'node:crypto';
import * as lib from 'oauth4webapi';
import { IsthmusError } from '../errors.js';
import type { LoginHooks } from './options.js';
import type { TokenAuthMethod } from './store/login-record.js';

/** The client as it identifies itself at the token endpoint. */
export interface TokenClient {
  readonly id: string;
  readonly authMethod: TokenAuthMethod;
  readonly secret: string | undefined;
  /** `pem` has been read. */
  readonly privateKey: (PrivateKeyOptions & { readonly pem: string }) | undefined;
  /** Authenticates in the place of `authMethod`. */
  readonly authenticate?: LoginHooks['authenticate'];
}

/** A key that signs assertions of the client (`private_key_jwt`). */
export interface PrivateKeyOptions {
  /** PKCS #8, as PEM. A key that is given as a file is read when it is needed. */
  readonly pem: string | { readonly file: string };
  /** For example `ES256` or `RS256`. */
  readonly algorithm: string;
  readonly keyId?: string;
}

/** The methods to use: what the server lists and the client has the means for. */
export function chooseAuthMethod(
  listed: readonly string[] | undefined,
  { hasSecret, hasKey }: { readonly hasSecret: boolean; readonly hasKey: boolean },
): TokenAuthMethod {
  if (hasKey) return 'private_key_jwt';
  const fitting: readonly TokenAuthMethod[] = hasSecret
    ? ['client_secret_basic', 'client_secret_post', 'none']
    : ['none'];
  return fitting.find((method) => listed?.includes(method)) ?? fitting[0]!;
}

/** Adds to a request what proves that it comes from the client. */
export async function clientAuthentication(client: TokenClient): Promise<lib.ClientAuth> {
  const { id, authMethod, secret = '', privateKey, authenticate } = client;
  if (authenticate) {
    return async ({ issuer, token_endpoint: url = '' }, _client, body, headers) => {
      await authenticate({ headers, body, url, issuer });
    };
  }
  switch (authMethod) {
    case 'none':
      return lib.None();
    case 'client_secret_post':
      return lib.ClientSecretPost(secret);
    case 'client_secret_basic':
      // The library also encodes `-`, which some servers do not decode.
      return (_server, _client, _body, headers) => {
        const pair = Buffer.from(`${formEncode(id)}:${formEncode(secret)}`).toString('base64');
        headers.set('authorization', `Basic ${pair}`);
      };
    case 'private_key_jwt':
      return lib.PrivateKeyJwt(await importKey(privateKey));
  }
}

/** As `application/x-www-form-urlencoded` writes a value. It leaves `*-._` as they are, as servers expect. */
export function formEncode(value: string): string {
  return new URLSearchParams([['', value]]).toString().slice(1);
}

async function importKey(options: TokenClient['privateKey']): Promise<lib.PrivateKey> {
  if (!options)
    throw new IsthmusError('INVALID_OPTION', 'private_key_jwt needs a private key', { sent: 'no' });
  const { importPKCS8 } = await import('jose');
  try {
    const pem = createPrivateKey(options.pem).export({ type: 'pkcs8', format: 'pem' });
    const key = (await importPKCS8(String(pem), options.algorithm)) as lib.CryptoKey;
    return options.keyId === undefined ? { key } : { key, kid: options.keyId };
  } catch {
    // The reason may contain parts of the key.
    throw new IsthmusError('INVALID_OPTION', `The private key is not a key for ${options.algorithm}`, {
      sent: 'no',
    });
  }
}
