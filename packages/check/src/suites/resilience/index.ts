import type { Check } from '../../model.js';
import { batchChecks } from './batches.js';
import { byteChecks } from './bytes.js';
import { chunkChecks } from './chunks.js';
import { endOfInputChecks } from './end-of-input.js';
import { envelopeChecks } from './envelopes.js';
import { fuzzChecks } from './fuzz.js';
import { floodChecks, stallChecks } from './load.js';
import { memberChecks } from './members.js';
import { noiseChecks } from './noise.js';
import { purityChecks } from './purity.js';

/** Bad bytes, shapes and sizes, load, and the end of input. */
export const resilienceChecks: readonly Check[] = [
  ...byteChecks,
  ...envelopeChecks,
  ...batchChecks,
  ...memberChecks,
  ...noiseChecks,
  ...chunkChecks,
  ...floodChecks,
  ...stallChecks,
  ...endOfInputChecks,
  ...fuzzChecks,
  ...purityChecks,
];
