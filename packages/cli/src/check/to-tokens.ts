import { readFile } from 'node:fs/promises';
import {
  type CheckTokens,
  readSigningKey,
  TOKEN_KINDS,
  type TokenKind,
  type TokenSigner,
} from '@isthmus/check';
import { fileReason, IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { fromJson } from '../arguments/read-arguments.js';
import { suggest } from '../arguments/suggest.js';
import { usageError } from '../cli-error.js';
import type { CommandTarget } from '../target.js';
import { oneLine } from '../terminal/text.js';

/** The options of `check` about tokens. */
export interface TokenOptions {
  readonly token?: readonly string[];
  readonly tokenKey?: string;
  readonly tokenClaims?: string;
  readonly weakScope?: string;
  readonly broadScope?: string;
}

/** The tokens for a resource server, from the environment and from files. Undefined without such options. */
export async function toTokens(
  options: TokenOptions,
  target: CommandTarget,
): Promise<CheckTokens | undefined> {
  const { token = [], tokenKey } = options;
  for (const [name, value] of [
    ['--token-claims', options.tokenClaims],
    ['--weak-scope', options.weakScope],
    ['--broad-scope', options.broadScope],
  ] as const) {
    if (value !== undefined && tokenKey === undefined) throw usageError(`${name} needs --token-key FILE`);
  }
  if (token.length === 0 && tokenKey === undefined) return undefined;
  const name = token.length > 0 ? '--token' : '--token-key';
  if (target.kind !== 'url') throw usageError(`${name} is for a server at a URL`);
  const given = Object.fromEntries(await Promise.all(token.map(readToken)));
  return {
    given,
    ...(tokenKey !== undefined && { signer: await readSigner(tokenKey, target.url, options) }),
  };
}

async function readToken(text: string): Promise<readonly [TokenKind, string]> {
  const [, kind = '', source = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  const found = TOKEN_KINDS.find((each) => each === kind);
  if (found === undefined) {
    // The text may be a token, so it is not repeated.
    const meant = suggest(kind, TOKEN_KINDS);
    throw usageError(
      'Each --token begins with its kind',
      meant
        ? `Did you mean --token ${meant}=env:NAME?`
        : `--token KIND=env:NAME, with one of ${TOKEN_KINDS.join(', ')}`,
    );
  }
  const [, way, place = ''] = /^(env|file):(.+)$/s.exec(source) ?? [];
  if (way === undefined) {
    throw usageError(
      `--token ${kind}= needs env:NAME or file:PATH: every user of this machine can read an argument`,
      `--token ${kind}=env:${kind.toUpperCase()}_TOKEN`,
    );
  }
  const value = way === 'env' ? process.env[place] : await readText(place, `--token ${kind}`);
  const trimmed = value?.trim() ?? '';
  if (!/^[\x21-\x7e]+$/.test(trimmed)) {
    throw usageError(`--token ${kind}: ${oneLine(source)} has no token`);
  }
  return [found, trimmed];
}

async function readSigner(file: string, url: string, options: TokenOptions): Promise<TokenSigner> {
  const text = await readText(file, '--token-key');
  const claims = options.tokenClaims === undefined ? {} : fromJson(options.tokenClaims);
  try {
    return {
      key: readSigningKey(text),
      claims: { aud: url, sub: 'isthmus-check', ...claims },
      ...(options.weakScope !== undefined && { weakScope: options.weakScope }),
      ...(options.broadScope !== undefined && { broadScope: options.broadScope }),
    };
  } catch (error) {
    if (error instanceof IsthmusError) throw usageError(`--token-key ${oneLine(file)}: ${error.message}`);
    throw error;
  }
}

async function readText(file: string, option: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw usageError(`${option}: ${oneLine(file)} cannot be read: ${oneLine(fileReason(error))}`);
  }
}
