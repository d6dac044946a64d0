import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { fileReason } from '../../errors.js';

export type EnvFile =
  | { readonly kind: 'variables'; readonly variables: Readonly<Record<string, string>> }
  | { readonly kind: 'broken'; readonly reason: string };

/** Reads the variables of a dotenv file. Never throws. Reasons contain no values. */
export async function readEnvFile(file: string): Promise<EnvFile> {
  try {
    return await readRegularFile(file);
  } catch (error) {
    return { kind: 'broken', reason: fileReason(error) };
  }
}

/** Refuses pipes and devices: opening one may block, and reading it may never end. */
async function readRegularFile(file: string): Promise<EnvFile> {
  const found = await stat(file);
  if (found.isDirectory()) return { kind: 'broken', reason: 'it is a folder' };
  if (!found.isFile()) return NOT_REGULAR;
  // The file may have been replaced meanwhile, so it is opened without blocking and checked again.
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    if (!(await handle.stat()).isFile()) return NOT_REGULAR;
    const chunks: Buffer[] = [];
    let bytes = 0;
    const stream = handle.createReadStream({ end: MAX_BYTES, autoClose: false });
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
    }
    if (bytes > MAX_BYTES) return { kind: 'broken', reason: `it is longer than ${MAX_BYTES} bytes` };
    return parseEnv(Buffer.concat(chunks).toString('utf8'));
  } finally {
    await handle.close();
  }
}

/**
 * One `NAME=value` on each line, with an optional `export` before it and `# …` after it. Single quotes and backticks keep
 * their content; double quotes have the escapes `\n`, `\r`, `\t`, `\"` and `\\`. A quoted value may have several lines.
 */
export function parseEnv(text: string): EnvFile {
  const variables = new Map<string, string>();
  const source = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  let line = 1;
  let at = 0;
  while (at < source.length) {
    const newline = source.indexOf('\n', at);
    const end = newline < 0 ? source.length : newline;
    const raw = source.slice(at, end).trim();
    let next = end + 1;
    if (raw !== '' && !raw.startsWith('#')) {
      const equals = source.indexOf('=', at);
      const name = equals < 0 || equals > end ? '' : nameIn(source.slice(at, equals));
      if (name === '') return { kind: 'broken', reason: `line ${line} is not NAME=value` };
      const begin = skipBlanks(source, equals + 1, end);
      const quote = source[begin];
      if (quote !== undefined && begin < end && QUOTES.includes(quote)) {
        const close = closing(source, begin + 1, quote);
        if (close < 0) return { kind: 'broken', reason: `line ${line} has no closing quote` };
        const value = source.slice(begin + 1, close);
        variables.set(name, quote === '"' ? withEscapes(value) : value);
        const rest = source.indexOf('\n', close);
        next = rest < 0 ? source.length : rest + 1;
      } else variables.set(name, plainValue(source.slice(begin, end)));
    }
    for (let i = source.indexOf('\n', at); i >= 0 && i < next; i = source.indexOf('\n', i + 1)) line += 1;
    at = next;
  }
  return { kind: 'variables', variables: Object.fromEntries(variables) };
}

const QUOTES = ['"', "'", '`'];

function nameIn(text: string): string {
  const name = text.trim().replace(/^export[ \t]+/, '');
  return /^[A-Za-z_][\w.-]*$/.test(name) ? name : '';
}

function skipBlanks(source: string, from: number, end: number): number {
  let at = from;
  while (at < end && (source[at] === ' ' || source[at] === '\t')) at += 1;
  return at;
}

function closing(source: string, from: number, quote: string): number {
  for (let at = from; at < source.length; at += 1) {
    if (quote === '"' && source[at] === '\\') at += 1;
    else if (source[at] === quote) return at;
  }
  return -1;
}

/** A comment begins after a blank: `a#b` is a value. */
function plainValue(text: string): string {
  if (text.startsWith('#')) return '';
  const [blank, tab] = [text.indexOf(' #'), text.indexOf('\t#')].map((at) => (at < 0 ? text.length : at));
  return text.slice(0, Math.min(blank!, tab!)).trim();
}

function withEscapes(text: string): string {
  return text.replace(/\\([nrt"\\])/g, (_, letter: string) => ESCAPES[letter]!);
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\' };
const NOT_REGULAR: EnvFile = {
  kind: 'broken',
  reason: 'it is not a regular file but a pipe, a socket or a device',
};
const MAX_BYTES = 1024 * 1024;
