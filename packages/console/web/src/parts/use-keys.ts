import { useEffect, useRef } from 'preact/hooks';
import { addKeys, type Shortcut } from '../state/keys.js';

/** Shortcuts for as long as the component is on the screen. */
export function useKeys(shortcuts: readonly Shortcut[]): void {
  const current = useRef(shortcuts);
  current.current = shortcuts;
  const names = shortcuts.map(({ keys }) => keys).join(' , ');
  useEffect(
    () =>
      addKeys(
        shortcuts.map(({ keys, say }) => ({
          keys,
          say,
          run: () => current.current.find((each) => each.keys === keys)?.run(),
        })),
      ),
    [names],
  );
}
