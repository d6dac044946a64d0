/** Memory for one large line: it grows in place, and goes back to the system as soon as the line has been read. */
export interface LineBuffer {
  /** Room of `size` bytes that begins with the first `used` bytes of `from`. A room given before is not good any more. */
  grow(from: Buffer, used: number, size: number): Buffer;
  /** Gives the memory back. Rooms given before are empty from now on. */
  release(): void;
}

/**
 * A plain buffer that is outgrown or done with stays until the next full collection: answers of 30 MB one after the
 * other took more than 100 MB that way (S6). A resizable one reserves addresses for the longest line, takes memory
 * only for what is written, and gives it back when it shrinks.
 */
export function createLineBuffer(maxBytes: number): LineBuffer {
  let reserved: Resizable | undefined;
  /** The first bytes are there already. */
  let isGiven = false;
  return {
    grow(from, used, size) {
      reserved ??= reserve(maxBytes);
      if (!reserved) {
        const larger = Buffer.allocUnsafeSlow(size);
        from.copy(larger, 0, 0, used);
        return larger;
      }
      reserved.resize(size);
      const room = Buffer.from(reserved, 0, size);
      if (!isGiven) from.copy(room, 0, 0, used);
      isGiven = true;
      return room;
    },
    release() {
      isGiven = false;
      reserved?.resize(0);
    },
  };
}

/** Undefined where addresses are short, or the limit is beyond what a buffer can hold. */
function reserve(maxByteLength: number): Resizable | undefined {
  try {
    return new (ArrayBuffer as unknown as ResizableConstructor)(0, { maxByteLength });
  } catch {
    return undefined;
  }
}

/** Since ES2024; every supported Node has it. */
interface Resizable extends ArrayBuffer {
  resize(bytes: number): void;
}
type ResizableConstructor = new (bytes: number, options: { readonly maxByteLength: number }) => Resizable;
