/** The last bytes of a stream, as many as fit. Its memory is taken at the first write and never grows. */
export interface ByteRing {
  readonly length: number;
  /** Keeps the bytes, at the cost of the oldest. */
  write(bytes: Uint8Array): void;
  /** A copy of what it holds, oldest first. */
  peek(): Buffer;
  /** The same, and it is empty afterwards. */
  take(): Buffer;
}

export function createByteRing(capacity: number): ByteRing {
  let memory: Buffer | undefined;
  let start = 0;
  let length = 0;

  const peek = () => {
    if (!memory) return Buffer.alloc(0);
    const first = memory.subarray(start, Math.min(start + length, capacity));
    return Buffer.concat([first, memory.subarray(0, length - first.length)]);
  };

  return {
    get length() {
      return length;
    },
    write(bytes) {
      if (bytes.length === 0 || capacity === 0) return;
      memory ??= Buffer.allocUnsafeSlow(capacity);
      const kept = bytes.length > capacity ? bytes.subarray(bytes.length - capacity) : bytes;
      const at = (start + length) % capacity;
      const untilEnd = Math.min(kept.length, capacity - at);
      memory.set(kept.subarray(0, untilEnd), at);
      memory.set(kept.subarray(untilEnd), 0);
      const lost = Math.max(0, length + kept.length - capacity);
      start = (start + lost) % capacity;
      length += kept.length - lost;
    },
    peek,
    take() {
      const bytes = peek();
      start = 0;
      length = 0;
      return bytes;
    },
  };
}
