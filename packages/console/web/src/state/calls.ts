import { effect, type Signal, signal } from '@preact/signals';
import type { CallDetail, CallRequest, CallRow, Snippet, SnippetRequest } from '../../../src/contract.js';
import { ask } from '../api.js';
import { calls, questions } from './store.js';

export interface DetailState {
  readonly detail?: CallDetail | undefined;
  readonly error?: unknown;
}

const details = new Map<number, Signal<DetailState>>();

/** Begins a call, and settles with its number before it is over. */
export async function beginCall(request: CallRequest): Promise<number> {
  const { call } = await ask('POST calls', { body: request });
  return call;
}

export async function cancelCall(id: number): Promise<void> {
  await ask('DELETE calls/:id', { path: [id] });
}

/** All of a call. It is read again when its state changes, and when a question of it comes or goes. */
export function detailOf(id: number): Signal<DetailState> {
  let found = details.get(id);
  if (found) return found;
  const fresh = signal<DetailState>({});
  found = fresh;
  details.set(id, fresh);
  if (details.size > MAX_DETAILS) details.delete(details.keys().next().value!);
  let last = '';
  const stop = effect(() => {
    const row = calls.get(id);
    const asked = questions.all.value.filter((question) => question.call === id).length;
    const state = `${row?.state} ${asked}`;
    if (state === last) return;
    last = state;
    void readDetail(id, fresh);
    if (row?.state === 'done' || !details.has(id)) queueMicrotask(() => stop());
  });
  return fresh;
}

async function readDetail(id: number, into: Signal<DetailState>): Promise<void> {
  try {
    into.value = { detail: await ask('GET calls/:id', { path: [id] }) };
  } catch (error) {
    into.value = { ...into.peek(), error };
  }
}

/** The calls of one tool, prompt or resource, the newest first. */
export function callsOf(fits: (row: CallRow) => boolean): readonly CallRow[] {
  return calls.all.value.filter(fits).reverse();
}

export async function snippet(request: SnippetRequest): Promise<Snippet> {
  return ask('POST snippets', { body: request });
}

const MAX_DETAILS = 200;
