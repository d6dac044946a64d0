import { useState } from 'preact/hooks';

/** What was typed, by the name of its form. It stays while the page is open, and is never stored. */
const drafts = new Map<string, unknown>();

export function useDraft<Value>(key: string, first: () => Value): readonly [Value, (value: Value) => void] {
  const [, setTick] = useState(0);
  const value = (drafts.get(key) as Value | undefined) ?? first();
  const set = (next: Value) => {
    drafts.delete(key);
    drafts.set(key, next);
    if (drafts.size > 200) drafts.delete(drafts.keys().next().value!);
    setTick((tick) => tick + 1);
  };
  return [value, set];
}
