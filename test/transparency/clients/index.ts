import { officialV1 } from './official-v1.js';
import { officialV2 } from './official-v2.js';
import { own } from './own.js';
import { raw } from './raw.js';

const v2Modern = officialV2(
  { name: 'v2-modern', title: 'official v2, modern', era: 'modern' },
  { pin: '2026-07-28' },
);
const v2Legacy = officialV2({ name: 'v2-legacy', title: 'official v2, legacy', era: 'legacy' }, 'legacy');
const ownLegacy = own({ name: 'own-legacy', title: 'our own, legacy', era: 'legacy' });
const ownModern = own({ name: 'own-modern', title: 'our own, modern', era: 'modern' });
const rawLegacy = raw({ name: 'raw-legacy', title: 'lines, legacy', era: 'legacy' });
const rawModern = raw({ name: 'raw-modern', title: 'lines, modern', era: 'modern' });

/**
 * Who is sent through the bridge, over which transport, and who does the same without a bridge where the server
 * does not speak the era of the first. Lines of the two eras cannot be compared.
 */
export const CLIENTS = [
  { client: officialV1, over: 'http', otherEra: v2Modern },
  { client: v2Modern, over: 'http', otherEra: v2Legacy },
  { client: ownLegacy, over: 'stdio', otherEra: ownModern },
  { client: ownModern, over: 'stdio', otherEra: ownLegacy },
  { client: rawLegacy, over: 'stdio', otherEra: undefined },
  { client: rawModern, over: 'stdio', otherEra: undefined },
] as const;
