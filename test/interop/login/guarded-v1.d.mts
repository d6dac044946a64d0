import type { RequestListener } from 'node:http';

export function openGuardedV1(origin: string): {
  readonly listener: RequestListener;
  readonly statuses: number[];
  readonly provider: { readonly refreshes: number; expire(): void };
  forget(): Promise<number>;
};
