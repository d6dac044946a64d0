import { createReadStream } from 'node:fs';
import { fileReason, messageOf } from '../../errors.js';
import type { ConfigProblem } from '../report.js';
import type { Document, ParsedDocument } from './document.js';
import { parseJson } from './parse-json.js';
import { parseToml } from './parse-toml.js';
import { parseYaml } from './parse-yaml.js';

export type DocumentResult =
  | { readonly kind: 'document'; readonly document: Document }
  | { readonly kind: 'missing'; readonly problem: ConfigProblem }
  | { readonly kind: 'broken'; readonly problem: ConfigProblem };

/** Reads a file. The extension decides between TOML and YAML; all other files are JSON. Never throws. */
export async function readDocument(file: string): Promise<DocumentResult> {
  const problem = (message: string, line = 0, column = 0): ConfigProblem => ({
    severity: 'error',
    file,
    line,
    column,
    key: '',
    message,
  });
  let text: string;
  try {
    text = await readText(file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return {
      kind: code === 'ENOENT' || code === 'ENOTDIR' ? 'missing' : 'broken',
      problem: problem(`the file cannot be read: ${fileReason(error)}`),
    };
  }
  try {
    const parse = parserOf(file);
    const parsed = await parse(text);
    if (parsed.kind === 'document') return parsed;
    const { line, column, message } = parsed.problem;
    const hint = parse === parseJson && looksLikeYaml(text) ? YAML_HINT : '';
    return { kind: 'broken', problem: problem(`${message}${hint}`, line, column) };
  } catch (error) {
    // The parsers are recursive, and a malicious file may be nested deeper than the stack allows.
    const reason = error instanceof RangeError ? 'expected fewer levels of nesting' : messageOf(error);
    return { kind: 'broken', problem: problem(reason, 1, 1) };
  }
}

function parserOf(file: string): (text: string) => Promise<ParsedDocument> {
  if (/\.toml$/i.test(file)) return parseToml;
  return /\.ya?ml$/i.test(file) ? parseYaml : parseJson;
}

/** Whether the first line with content is a key and a colon. */
function looksLikeYaml(text: string): boolean {
  const lines = text.slice(0, 4096).split('\n');
  const first = lines.find((line) => line.trim() !== '' && !line.startsWith('#'));
  return first !== undefined && /^(---\s*|[\w.-]+:(\s.*)?)$/.test(first);
}

const YAML_HINT = '; this looks like YAML, which is read from files whose name ends in .yaml or .yml';

/** Larger than the files in which some applications keep their whole state. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Reads at most `MAX_BYTES`: the file may be a pipe or an endless device. */
async function readText(file: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of createReadStream(file, { end: MAX_BYTES }) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
  }
  if (bytes > MAX_BYTES) throw new Error(`it is longer than ${MAX_BYTES} bytes`);
  try {
    // The decoder also removes a byte order mark.
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new Error('it is not UTF-8 text');
  }
}
