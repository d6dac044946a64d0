import type { AnyMutant } from '../../support/suites/mutant.js';
import { deaf, dies, isJson, SOON } from './faults.js';

/** Bytes that are no JSON, or hardly text, and lines in pieces. */
export const badBytesMutants: readonly AnyMutant[] = [
  {
    check: 'bytes/parse-error',
    fault: 'does not answer lines that are not JSON',
    seen: /was not answered/,
    middle: deaf((line) => !isJson(line)),
  },
  {
    check: 'bytes/parse-error',
    fault: 'answers what is not JSON with -32600',
    seen: /-32600/,
    middle: () => ({
      incomingLine(line, io) {
        if (isJson(line)) return line;
        io.reply({ jsonrpc: '2.0', error: { code: -32600, message: 'no' } });
        return undefined;
      },
    }),
  },
  dies('bytes/survives-text', 'a line of HTTP', (line) => line.startsWith('GET ')),
  dies('bytes/survives-invalid-utf8', 'bytes that are not UTF-8', (line) => line.includes('\ufffd')),
  dies('bytes/survives-control-bytes', 'a NUL', (line) => line.includes('\0')),
  {
    check: 'bytes/survives-blank-lines',
    fault: 'crashes on an empty line',
    seen: /an empty line/,
    middle: () => ({
      incomingBytes(bytes, io) {
        if (bytes.toString().trim() !== '') return bytes;
        io.destroy();
        return undefined;
      },
    }),
  },
  {
    check: 'bytes/byte-order-mark',
    fault: 'crashes on a byte order mark',
    seen: /neither/,
    middle: () => ({
      incomingBytes(bytes, io) {
        if (bytes[0] !== 0xef) return bytes;
        io.destroy();
        return undefined;
      },
    }),
  },
  {
    check: 'bytes/white-space',
    fault: 'ignores lines that end with CRLF',
    seen: /CRLF was not answered/,
    middle: () => ({
      incomingBytes: (bytes) => (bytes.toString().endsWith('\r\n') ? undefined : bytes),
    }),
  },
  {
    check: 'bytes/any-writing',
    fault: 'ignores messages that do not begin with jsonrpc',
    seen: /the other way round was not answered/,
    middle: deaf((line) => !line.startsWith('{"jsonrpc"')),
  },
  {
    check: 'bytes/lone-surrogates',
    fault: 'ignores requests with half a surrogate pair',
    middle: deaf((line) => line.includes('\\ud83d')),
  },
  {
    check: 'bytes/utf-8',
    fault: 'decodes each chunk by itself',
    seen: /came back as/,
    middle: () => ({ incomingBytes: (bytes) => Buffer.from(bytes.toString('utf8')) }),
  },
  {
    check: 'chunks/single-bytes',
    fault: 'treats each read as a message',
    options: SOON,
    middle: () => ({ incomingBytes: (bytes) => (bytes.length === 1 ? undefined : bytes) }),
  },
  {
    check: 'chunks/slow-line',
    fault: 'answers half a line',
    seen: /half a line was answered/,
    middle: () => ({
      incomingBytes(bytes, io) {
        if (bytes.at(-1) !== 10) io.reply({ jsonrpc: '2.0', error: { code: -32700, message: 'no' } });
        return bytes;
      },
    }),
  },
  {
    check: 'chunks/many-lines',
    fault: 'reads only the first line of a chunk',
    seen: /of 4 requests were not answered/,
    options: SOON,
    middle: () => ({ incomingBytes: (bytes) => bytes.subarray(0, bytes.indexOf(10) + 1 || bytes.length) }),
  },
  {
    check: 'size/megabyte',
    fault: 'ignores long lines',
    options: SOON,
    middle: deaf((line) => line.length > 1_000_000),
  },
  dies('size/sixteen-megabytes', 'a very long line', (line) => line.length > 16_000_000),
];
