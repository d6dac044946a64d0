import { IsthmusError } from '../../errors.js';

/** A whole body, or `RESULT_TOO_LARGE`. */
export async function readBody(
  body: AsyncIterable<Uint8Array>,
  label: string,
  maxBytes: number,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge(label, maxBytes);
    chunks.push(chunk);
  }
  const [only] = chunks;
  if (chunks.length === 1 && Buffer.isBuffer(only)) return only;
  return Buffer.concat(chunks);
}

/** As much of a body as is worth reading where something went wrong; never rejects. */
export async function readSome(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.byteLength;
      if (size >= maxBytes) break;
    }
  } catch {
    // What came will do.
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}

export function tooLarge(label: string, maxBytes: number): IsthmusError {
  const message = `The answer of ${label} is longer than ${maxBytes} bytes`;
  return new IsthmusError('RESULT_TOO_LARGE', message, { sent: 'maybe' });
}

/** The media type alone, in lower case. */
export function mediaType(contentType: string | undefined): string {
  return (contentType ?? '').split(';', 1)[0]!.trim().toLowerCase();
}

/** The first words of a body that is not a message, for an error. Of an HTML page: its title and text, without tags. */
export function firstWords(body: Buffer): string {
  const text = withoutMarkup(body.toString('utf8', 0, MAX_WORDS_BYTES));
  const words = text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replaceAll('\uFFFD', '')
    .trim();
  return words.length > MAX_WORDS ? `${words.slice(0, MAX_WORDS)}…` : words;
}

/**
 * Puts a space in the place of each tag, script and style. An upstream chooses this text, so the loop visits each
 * character once: what is not closed reaches to the end (S1: a pattern took 68 s for 200,000 of `<`).
 */
function withoutMarkup(page: string): string {
  const lower = page.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  let text = '';
  let at = 0;
  while (at < page.length) {
    const open = page.indexOf('<', at);
    if (open < 0) return text + page.slice(at);
    text += page.slice(at, open);
    if (!TAG_START.test(page.charAt(open + 1))) {
      text += '<';
      at = open + 1;
      continue;
    }
    text += ' ';
    const hidden = HIDDEN.find((name) => lower.startsWith(name, open + 1));
    const from = hidden === undefined ? open : lower.indexOf(`</${hidden}`, open);
    const close = from < 0 ? -1 : page.indexOf('>', from);
    if (close < 0) return text;
    at = close + 1;
  }
  return text;
}

const TAG_START = /[a-z/!?]/i;
/** Elements whose content is not for people. */
const HIDDEN = ['script', 'style'] as const;
const MAX_WORDS_BYTES = 64 * 1024;
const MAX_WORDS = 200;
