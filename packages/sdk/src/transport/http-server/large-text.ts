/**
 * A large text on its way out, in pieces. It stays text: Node frees the bytes of a text when the system has taken them,
 * but a `Buffer` of 30 MB would stay until the next collection (S6).
 */
export class LargeText {
  readonly #parts: string[];
  /** Where the rest of the first part begins. */
  #at = 0;
  /** As UTF-8. */
  readonly bytes: number;
  /** Latin-1 is written faster, and is the same for ASCII. */
  readonly encoding: 'latin1' | 'utf8';
  /** Characters that were not taken. */
  left: number;

  constructor(text: string | readonly string[]) {
    this.#parts = typeof text === 'string' ? [text] : [...text];
    let [bytes, length] = [0, 0];
    for (const part of this.#parts) {
      bytes += Buffer.byteLength(part);
      length += part.length;
    }
    this.bytes = bytes;
    this.left = length;
    this.encoding = bytes === length ? 'latin1' : 'utf8';
  }

  /** The next piece; empty when none is left. */
  take(): string {
    let piece = '';
    while (piece.length < PIECE && this.#parts.length > 0) {
      const [part = ''] = this.#parts;
      const end = endOfPiece(part, this.#at + PIECE - piece.length);
      piece += part.slice(this.#at, end);
      this.#at = end;
      if (end < part.length) break;
      this.#parts.shift();
      this.#at = 0;
    }
    this.left -= piece.length;
    return piece;
  }
}

/** Both halves of a character beyond 16 bits stay together: written apart, neither is valid. */
function endOfPiece(part: string, end: number): number {
  if (end >= part.length) return part.length;
  const last = part.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff ? end + 1 : end;
}

const PIECE = 128 * 1024;
