import { compact } from '../../json/print.js';
import { tryRaw } from '../../json/raw.js';

/** Values that were sent, by form and field, the newest first. They live as long as the page. */
const sent = new Map<string, readonly string[]>();

/** `key`: of the form. `args`: the arguments as they were sent. */
export function rememberSent(key: string, args: string): void {
  const raw = tryRaw(args);
  if (raw?.kind !== 'object') return;
  for (const [name, value] of raw.members) {
    if (value.kind !== 'string' && value.kind !== 'number') continue;
    const text = value.kind === 'string' ? value.value : compact(value);
    const before = sent.get(`${key} ${name}`) ?? [];
    if (text === '' || text.length > 200 || text.includes('\n')) continue;
    sent.set(`${key} ${name}`, [text, ...before.filter((each) => each !== text)].slice(0, 20));
  }
  while (sent.size > 1000) sent.delete(sent.keys().next().value!);
}

export function sentBefore(key: string, name: string): readonly string[] {
  return sent.get(`${key} ${name}`) ?? [];
}
