export { decodeLine, decodeValue, encodeMessage } from './codec.js';
export { ErrorCode } from './error-codes.js';
export * from './json-rpc.js';
export { createLineReader, type LineReader, type LineReaderOptions } from './lines.js';
export type * from './model.js';
export { recoverId } from './recover-id.js';
