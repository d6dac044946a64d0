import type { Readable } from 'node:stream';

/**
 * Calls `onSign` once, at the first chunk that arrives in a pipe of a child, read or not.
 *
 * Listening is no way to find out: a 'data' listener makes the stream flow and a 'readable' listener stops it
 * from flowing, both before its reader is there. Node begins to read a child's pipe as soon as it is made, and
 * every chunk comes in through `push`; so the first call of `push` is watched, and from then on the stream has
 * the original again. Nothing is copied, and nothing is left in the way of the second chunk.
 */
export function onFirstSign(pipe: Readable, onSign: () => void): void {
  const push = pipe.push;
  pipe.push = (...chunk) => {
    // Not deleted: V8 is slow with an object that has lost a property.
    pipe.push = push;
    // The end of the pipe arrives as null and is no sign of life.
    if (chunk[0] !== null) onSign();
    return push.apply(pipe, chunk);
  };
}
