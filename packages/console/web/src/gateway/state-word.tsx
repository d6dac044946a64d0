import type { ServerView } from '../../../src/contract.js';
import { plural, since } from '../parts/format.js';
import { now } from '../state/time.js';

const WORDS: Readonly<Record<ServerView['state'], { readonly sign: string; readonly kind: string }>> = {
  ready: { sign: '●', kind: 'pass' },
  starting: { sign: '◔', kind: 'warn' },
  restarting: { sign: '◔', kind: 'warn' },
  asleep: { sign: '◌', kind: 'soft' },
  failed: { sign: '✕', kind: 'fail' },
  'needs-login': { sign: '!', kind: 'warn' },
  off: { sign: '■', kind: 'soft' },
};

/** The words of `/status`, with a sign. The next attempt is counted down. */
export function StateWord({ server }: { readonly server: ServerView }) {
  const { sign, kind } = WORDS[server.state];
  const next = server.nextAttemptAt;
  return (
    <span class={`state-word ${kind}`}>
      <span aria-hidden="true">{sign} </span>
      {server.state}
      {next !== undefined && next > now.value && ` · again in ${Math.ceil((next - now.value) / 1000)} s`}
    </span>
  );
}

/** The proof that this very process has answered, in a few words. */
export function receiptOf(
  server: ServerView,
  at: number,
): {
  readonly handshake: string;
  readonly list?: { readonly place: string; readonly words: string; readonly age: string };
} {
  if (server.state === 'asleep') return { handshake: 'the first call starts it' };
  const receipt = server.processes.find((process) => process.receipt)?.receipt;
  if (!receipt) return { handshake: '' };
  const handshake = `${receipt.handshake} ${since(at - receipt.handshakeAt)}`;
  const { list, listError } = receipt;
  if (!list) return { handshake: listError === undefined ? handshake : `${handshake} · ${listError}` };
  const place = list.method.split('/')[0]!;
  const words = plural(list.items, place.replace(/s$/, ''));
  return { handshake, list: { place, words, age: since(at - list.at) } };
}
