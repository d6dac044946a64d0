import type { Signal } from '@preact/signals';
import { upstream } from '../state/connection.js';
import { type ListName, type ListState, listOf, offered, unseenChanges } from '../state/lists.js';
import { hello, isGateway } from '../state/session.js';
import { calls, checks, connections, listens, questions, recordings, status } from '../state/store.js';

/** A screen of the rail. */
export interface RailPlace {
  readonly name: string;
  readonly at: readonly string[];
  /** The letter after `g`. */
  readonly key: string;
  /** A number beside the name. */
  count?(): number | undefined;
  /** Its list has changed since somebody looked. */
  hasChanged?(): boolean;
  /** It needs a person. */
  isUrgent?(): boolean;
}

export function screensOf(ofGateway: boolean): readonly RailPlace[] {
  return ofGateway
    ? GATEWAY
    : hello.value?.readOnly
      ? INSPECT.filter(({ at }) => !LIVE.has(at[0] ?? ''))
      : INSPECT;
}

/** A file of frames has none of these. */
const LIVE = new Set(['questions', 'listens', 'check']);

const INSPECT: readonly RailPlace[] = [
  { name: 'Overview', at: [], key: 'o' },
  {
    name: 'Tools',
    at: ['tools'],
    key: 't',
    count: () => lengthOf('tools'),
    hasChanged: () => hasNews('tools'),
  },
  {
    name: 'Resources',
    at: ['resources'],
    key: 'r',
    count: () => sum(lengthOf('resources'), lengthOf('templates')),
    hasChanged: () => hasNews('resources') || hasNews('templates'),
  },
  {
    name: 'Prompts',
    at: ['prompts'],
    key: 'p',
    count: () => lengthOf('prompts'),
    hasChanged: () => hasNews('prompts'),
  },
  { name: 'Calls', at: ['calls'], key: 'c', count: () => calls.all.value.length || undefined },
  {
    name: 'Questions',
    at: ['questions'],
    key: 'q',
    count: () => questions.all.value.length || undefined,
    isUrgent: () => questions.all.value.length > 0,
  },
  { name: 'Listens', at: ['listens'], key: 's', count: openListens },
  { name: 'Logs', at: ['logs'], key: 'l' },
  { name: 'Wire', at: ['wire'], key: 'w' },
  {
    name: 'Check',
    at: ['check'],
    key: 'k',
    count: () => (checks.all.value.some(({ state }) => state === 'running') ? 1 : undefined),
  },
  { name: 'Timing', at: ['timing'], key: 'i' },
];

const GATEWAY: readonly RailPlace[] = [
  { name: 'Servers', at: [], key: 's', count: () => status.value?.servers.length },
  {
    name: 'Calls',
    at: ['calls'],
    key: 'c',
    count: () => calls.all.value.filter(({ state }) => state !== 'done').length || undefined,
  },
  {
    name: 'Questions',
    at: ['questions'],
    key: 'q',
    count: () => questions.all.value.length || undefined,
    isUrgent: () => questions.all.value.length > 0,
  },
  { name: 'Callers', at: ['callers'], key: 'a' },
  { name: 'Logs', at: ['logs'], key: 'l' },
  {
    name: 'Wire',
    at: ['wire'],
    key: 'w',
    isUrgent: () => recordings.all.value.some(({ state }) => state === 'running'),
  },
  { name: 'Settings', at: ['settings'], key: 'e' },
];

function openListens(): number | undefined {
  return listens.all.value.filter(({ ended }) => !ended).length || undefined;
}

/** Only of lists that the server has: looking at a list reads it. */
function lengthOf(what: 'tools' | 'resources' | 'templates' | 'prompts'): number | undefined {
  if (isGateway()) return undefined;
  const known = hello.value?.readOnly ? connections.all.value[0] : upstream.value;
  if (!offered(known?.capabilities).includes(what)) return undefined;
  const list: Signal<ListState> = listOf(what);
  return list.value.page ? list.value.items.length : undefined;
}

function hasNews(what: ListName): boolean {
  return !isGateway() && unseenChanges.value.has(what);
}

function sum(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined && other === undefined ? undefined : (one ?? 0) + (other ?? 0);
}
