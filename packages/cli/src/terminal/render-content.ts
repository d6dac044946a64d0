import { isDeepStrictEqual } from 'node:util';
import type {
  BlobResourceContents,
  CallToolResult,
  ContentBlock,
  ReadResourceResult,
  TextResourceContents,
} from '@isthmus/sdk/internal/wire/model.js';
import type { Terminal } from './terminal.js';
import { oneLine, printable } from './text.js';

type Contents = TextResourceContents | BlobResourceContents;

/**
 * The result of a tool for a person: texts, and a description of other contents. Control characters are removed only
 * for a terminal; a file gets the exact text.
 */
export function renderToolResult(result: CallToolResult, terminal: Terminal): string {
  const blocks = Array.isArray(result.content) ? result.content : [];
  const parts = blocks.map((block) => renderBlock(block, terminal));
  const { structuredContent } = result;
  if (structuredContent !== undefined && !blocks.some((block) => repeats(block, structuredContent))) {
    parts.push(endLine(JSON.stringify(structuredContent, null, 2)));
  }
  return parts.join('');
}

/** The contents of a resource: text, or for a file or a pipe also bytes. */
export function renderResource(result: ReadResourceResult, terminal: Terminal): string | Buffer {
  const contents = Array.isArray(result.contents) ? result.contents : [];
  const [first] = contents;
  if (contents.length === 1 && first) {
    if ('text' in first) return terminal.readsOutput ? endLine(show(first.text, terminal)) : first.text;
    if (!terminal.readsOutput) return Buffer.from(first.blob, 'base64');
  }
  return contents
    .map((each) => `${terminal.out.bold(oneLine(each.uri))}\n${renderContents(each, terminal)}`)
    .join('\n');
}

export function renderBlock(block: ContentBlock, terminal: Terminal): string {
  const { dim } = terminal.out;
  switch (block.type) {
    case 'text':
      return endLine(show(block.text, terminal));
    case 'image':
    case 'audio':
      return `${dim(`[${block.type} ${oneLine(block.mimeType)}, ${sizeOf(block.data)}; --json prints it]`)}\n`;
    case 'resource_link':
      return `${dim('[link]')} ${oneLine(block.uri)}  ${oneLine(block.title ?? block.name)}\n`;
    case 'resource':
      return `${dim(`[resource ${oneLine(block.resource.uri)}]`)}\n${renderContents(block.resource, terminal)}`;
    default:
      return `${dim(`[${oneLine(String((block as { type?: unknown }).type))}; --json prints it]`)}\n`;
  }
}

function renderContents(contents: Contents, terminal: Terminal): string {
  if ('text' in contents) return endLine(show(contents.text, terminal));
  const type = oneLine(contents.mimeType ?? 'bytes');
  return `${terminal.out.dim(`[${type}, ${sizeOf(contents.blob)}; redirect the output to a file to save it]`)}\n`;
}

function show(text: unknown, terminal: Terminal): string {
  return terminal.readsOutput ? printable(String(text)) : String(text);
}

function endLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

/** Servers repeat structured content as text, for clients that do not know structured content. */
function repeats(block: ContentBlock, value: unknown): boolean {
  if (block.type !== 'text') return false;
  try {
    return isDeepStrictEqual(JSON.parse(block.text), value);
  } catch {
    return false;
  }
}

function sizeOf(base64: unknown): string {
  const bytes = typeof base64 === 'string' ? Buffer.byteLength(base64, 'base64') : 0;
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
