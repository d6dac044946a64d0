import { signal } from '@preact/signals';
import type { AccessLevel, Feature, Hello } from '../../../src/contract.js';
import type { ApiError } from '../api.js';

/** `door`: a key is needed. `failed`: the process could not be reached at all. */
export type Phase =
  | { readonly at: 'connecting' }
  | { readonly at: 'door'; readonly problem?: ApiError | undefined }
  | { readonly at: 'ready' };

/** The event stream. `lost`: it is asked for again at `retryAt`. `ended`: the process said goodbye. */
export type Line =
  | { readonly state: 'open' }
  | { readonly state: 'opening' }
  | { readonly state: 'lost'; readonly since: number; readonly retryAt: number; readonly why: string }
  | { readonly state: 'ended'; readonly since: number; readonly retryAt: number; readonly why: string };

export const phase = signal<Phase>({ at: 'connecting' });
export const hello = signal<Hello | undefined>(undefined);
export const line = signal<Line>({ state: 'opening' });
/** Of the process, minus ours. */
export const clockAhead = signal(0);

export function may(level: AccessLevel): boolean {
  return hello.value?.levels.includes(level) === true && !(level === 'act' && hello.value.readOnly);
}

export function has(feature: Feature): boolean {
  return hello.value?.features.includes(feature) === true;
}

export function isGateway(): boolean {
  return hello.value?.face === 'gateway';
}
