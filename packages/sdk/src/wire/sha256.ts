/**
 * The SHA-256 of a text as 64 hexadecimal digits, for short texts: the same as `node:crypto` gives. Loading that takes
 * 3 ms and more, and the first answer of a bridge would wait for it.
 */
export function sha256(text: string): string {
  const words = paddedWords(Buffer.from(text, 'utf8'));
  const state = Int32Array.from(FIRST_STATE);
  for (let at = 0; at < words.length; at += 16) addBlock(state, words, at);
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

/** FIPS 180-4, 5.1.1 and 5.2.1: a one bit, zeros, and the length in bits, in blocks of 16 words. */
function paddedWords(bytes: Buffer): Int32Array {
  const padded = Buffer.alloc(Math.ceil((bytes.length + 9) / 64) * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  padded.writeUInt32BE(Math.floor(bytes.length / 2 ** 29), padded.length - 8);
  padded.writeUInt32BE((bytes.length * 8) >>> 0, padded.length - 4);
  return Int32Array.from({ length: padded.length / 4 }, (_, at) => padded.readInt32BE(at * 4));
}

/** FIPS 180-4, 6.2.2. */
function addBlock(state: Int32Array, words: Int32Array, from: number): void {
  const schedule = new Int32Array(64);
  schedule.set(words.subarray(from, from + 16));
  for (let t = 16; t < 64; t += 1) {
    const far = schedule[t - 15]!;
    const near = schedule[t - 2]!;
    const sigma0 = turned(far, 7) ^ turned(far, 18) ^ (far >>> 3);
    const sigma1 = turned(near, 17) ^ turned(near, 19) ^ (near >>> 10);
    schedule[t] = schedule[t - 16]! + sigma0 + schedule[t - 7]! + sigma1;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let t = 0; t < 64; t += 1) {
    const sum1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
    const sum0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
    const first = (h + sum1 + ((e & f) ^ (~e & g)) + ROUNDS[t]! + schedule[t]!) | 0;
    const second = (sum0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  for (const [at, value] of [a, b, c, d, e, f, g, h].entries()) state[at]! += value;
}

function turned(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

const PRIMES = firstPrimes(64);
/** FIPS 180-4, 4.2.2 and 5.3.3: the first 32 bits behind the point of the cube roots and square roots of primes. */
const ROUNDS = PRIMES.map((prime) => fractionOf(Math.cbrt(prime)));
const FIRST_STATE = PRIMES.slice(0, 8).map((prime) => fractionOf(Math.sqrt(prime)));

function fractionOf(root: number): number {
  return ((root - Math.floor(root)) * 2 ** 32) | 0;
}

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let each = 2; primes.length < count; each += 1) {
    if (primes.every((prime) => each % prime !== 0)) primes.push(each);
  }
  return primes;
}
