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

/** What a person needs of a body that is no message: its first words; those of a page begin with its title. */
export function firstWords(body: Buffer): string {
  const text = body.toString();
  const bare = text.replace(/<(script|style)\b.*?<\/\1\s*>/gis, ' ').replace(/<[^>]*>/g, ' ');
  const words = bare
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replaceAll('\uFFFD', '')
    .trim();
  return words.length > MAX_WORDS ? `${words.slice(0, MAX_WORDS)}…` : words;
}

const MAX_WORDS = 200;
