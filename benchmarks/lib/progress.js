/** How far the run is, on stderr: one line that is rewritten on a terminal, a line per step elsewhere. */

/**
 * @param {NodeJS.WriteStream} stream
 * @param {number} steps
 */
export function createProgress(stream, steps) {
  const begin = performance.now();
  let step = -1;
  let title = '';

  return {
    /** @param {string} text */
    next(text) {
      step += 1;
      title = text;
      if (!stream.isTTY) stream.write(`bench: ${head(0)} ${title}\n`);
      else this.at(0, '');
    },
    /**
     * @param {number} share how much of this step is done, 0 to 1
     * @param {string} doing
     */
    at(share, doing) {
      if (!stream.isTTY) return;
      const line = `bench: ${head(share)} ${title}${doing && `: ${doing}`}`;
      stream.write(`\r\x1b[K${line.slice(0, (stream.columns ?? 100) - 1)}`);
    },
    /** @param {string} text something worth keeping on the screen */
    note(text) {
      stream.write(`${stream.isTTY ? '\r\x1b[K' : ''}bench: ${text}\n`);
    },
    end() {
      if (stream.isTTY) stream.write('\r\x1b[K');
      else stream.write(`bench: done after ${Math.round((performance.now() - begin) / 1000)} s\n`);
    },
  };

  /** @param {number} share */
  function head(share) {
    return `${String(Math.floor(((step + share) / steps) * 100)).padStart(2)} %`;
  }
}
