import type { KeyObject } from 'node:crypto';

interface Trust {
  readonly audience: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
}

interface Guarded {
  readonly url: string;
  close(): Promise<void>;
}

export function officialV2(trust: Trust): Promise<Guarded>;
export function officialV1(trust: Trust): Promise<Guarded>;
