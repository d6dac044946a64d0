import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/wire/sha256.js';

describe('sha256', () => {
  // The examples of FIPS 180-2, B.1 and B.2, and the empty text.
  it.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    [
      'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    ],
  ])('of %j', (text, digest) => {
    expect(sha256(text)).toBe(digest);
  });

  it('is that of node:crypto for texts of every length around the blocks, and for any characters', () => {
    for (let length = 0; length <= 300; length += 1) {
      const text = Array.from({ length }, (_, at) => 'aé…😀\0'[(at * 7 + length) % 6] ?? 'z').join('');
      expect(sha256(text)).toBe(createHash('sha256').update(text).digest('hex'));
    }
  });
});
