/**
 * The one exchange that is measured, as bytes: an echo `tools/call` and its answer, in both eras.
 *
 * All ids have seven digits and every text begins with the id of its request. The answers of one subject
 * therefore have one length, with the id and the text always at the same place. That shape is learnt from
 * the first answer, which is parsed and checked in full. An answer of the known length is then checked by
 * reading its two numbers, which must name the same request; parsing each would make the generator the
 * bottleneck.
 */

/** @typedef {import('./subjects.js').Era} Era */

/** @typedef {{ length: number, idAt: number, textAt: number }} Shape where an answer has its two numbers */

const ID_DIGITS = 7;
export const LEGACY_REVISION = '2025-11-25';
export const MODERN_REVISION = '2026-07-28';
export const CLIENT_INFO = { name: 'isthmus-benchmarks', version: '0.0.0' };

export const INITIALIZE_MESSAGE = JSON.stringify({
  jsonrpc: '2.0',
  id: 'initialize',
  method: 'initialize',
  params: { protocolVersion: LEGACY_REVISION, capabilities: {}, clientInfo: CLIENT_INFO },
});
export const INITIALIZED_MESSAGE = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
export const INITIALIZE = `${INITIALIZE_MESSAGE}\n`;
export const INITIALIZED = `${INITIALIZED_MESSAGE}\n`;

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': MODERN_REVISION,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': CLIENT_INFO,
};

/**
 * One request as bytes, to be copied and given its id in two places.
 * @param {Era} era
 * @param {number} textBytes
 * @param {number} firstId
 * @param {(json: string) => string} [frame] what goes round the message on this transport
 */
export function createRequest(era, textBytes, firstId, frame = (json) => `${json}\n`) {
  const filler = 'the quick brown fox jumps over the lazy dog '.repeat(Math.ceil(textBytes / 44));
  const rest = filler.slice(0, textBytes - ID_DIGITS);
  const text = (/** @type {number} */ id) => `${id}${rest}`;
  const call = { name: 'echo', arguments: { text: text(firstId) } };
  const params = era === 'modern' ? { ...call, _meta: ENVELOPE } : call;
  const line = JSON.stringify({ jsonrpc: '2.0', id: firstId, method: 'tools/call', params });
  const template = Buffer.from(frame(line));
  const idAt = template.indexOf(`"id":${firstId}`) + '"id":'.length;
  const textAt = template.indexOf(`"text":"${firstId}`) + '"text":"'.length;
  return {
    text,
    batch(/** @type {number} */ fromId, /** @type {number} */ count) {
      const bytes = Buffer.allocUnsafe(template.length * count);
      for (let i = 0, at = 0; i < count; i += 1, at += template.length) {
        template.copy(bytes, at);
        writeId(bytes, at + idAt, fromId + i);
        writeId(bytes, at + textAt, fromId + i);
      }
      return bytes;
    },
  };
}

/**
 * @param {Buffer} bytes
 * @param {number} at
 * @param {number} id
 */
function writeId(bytes, at, id) {
  let rest = id;
  for (let i = at + ID_DIGITS - 1; i >= at; i -= 1) {
    bytes[i] = 48 + (rest % 10);
    rest = (rest / 10) | 0;
  }
}

/**
 * @param {Buffer} bytes
 * @param {number} at
 */
export function readId(bytes, at) {
  let id = 0;
  for (let i = at; i < at + ID_DIGITS; i += 1) id = id * 10 + (bytes[i] - 48);
  return id;
}

/**
 * Where a first, verified answer carries its id and its text; undefined when it is not written plainly,
 * and then every answer is parsed.
 * @param {string} line
 * @param {number} id
 */
export function learnShape(line, id) {
  const idAt = line.indexOf(`"id":${id}`) + '"id":'.length;
  const textAt = line.indexOf(`"text":"${id}`) + '"text":"'.length;
  const plain =
    idAt >= '"id":'.length && textAt >= '"text":"'.length && Buffer.byteLength(line) === line.length;
  return plain ? { length: line.length, idAt, textAt } : undefined;
}

/** @param {any} message */
export function isInitialized(message) {
  return message.result?.protocolVersion === LEGACY_REVISION;
}

/**
 * @param {any} message
 * @param {string} text
 * @param {Era} era
 */
export function isEcho(message, text, era) {
  const { jsonrpc, result } = message;
  const content = result?.content;
  return (
    jsonrpc === '2.0' &&
    (era === 'legacy' || result?.resultType === 'complete') &&
    result?.isError !== true &&
    content?.length === 1 &&
    content[0].type === 'text' &&
    content[0].text === text
  );
}

/**
 * @param {string} line
 * @returns {any}
 */
export function parse(line) {
  try {
    const message = JSON.parse(line);
    if (typeof message === 'object' && message !== null) return message;
  } catch {
    // Reported below.
  }
  throw wrong('a line that is not a message', line);
}

/**
 * @param {string} what
 * @param {string} line
 */
export function wrong(what, line) {
  return new Error(
    `${what}: ${line.length > 300 ? `${line.slice(0, 300)}… (${line.length} characters)` : line}`,
  );
}
