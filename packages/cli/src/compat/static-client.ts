import { readFileSync } from 'node:fs';
import { fileReason } from '@isthmus/sdk/internal/errors.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { usageError } from '../cli-error.js';
import type { CompatFlag } from './flags.js';

/** `--static-oauth-client-info '{"client_id": …}'` or `@FILE`: a client that is registered already. */
export const clientInfo: CompatFlag = {
  takes: 'one',
  apply([text = ''], { args }) {
    const { client_id: id, client_secret: secret } = readJson('--static-oauth-client-info', text);
    if (typeof id !== 'string') throw usageError('--static-oauth-client-info has no client_id');
    args.push('--client-id', id);
    if (typeof secret === 'string' && secret !== '') args.push('--client-secret', secret);
  },
};

/** `--static-oauth-client-metadata`: what a registration says. The scope counts; the rest is found out. */
export const clientMetadata: CompatFlag = {
  takes: 'one',
  apply([text = ''], { args }) {
    const { scope } = readJson('--static-oauth-client-metadata', text);
    if (typeof scope === 'string' && scope !== '') args.push('--scope', scope);
  },
};

/** The errors do not quote the text, which may hold a secret. */
function readJson(option: string, text: string): Record<string, unknown> {
  const json = expand(option, text.startsWith('@') ? readText(option, text.slice(1)) : text);
  try {
    const value: unknown = JSON.parse(json);
    if (isJsonObject(value)) return value;
  } catch {
    // Reported below.
  }
  throw usageError(`${option} is not a JSON object`, `Write ${option} '{…}', or ${option} @FILE`);
}

function readText(option: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw usageError(`Cannot read ${option} @${file}: ${fileReason(error)}`);
  }
}

/** Values may name variables, as `${NAME}`. */
function expand(option: string, text: string): string {
  return text.replace(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = process.env[name];
    if (value === undefined) throw usageError(`${option} needs the variable ${name}, which is not set`);
    return JSON.stringify(value).slice(1, -1);
  });
}
