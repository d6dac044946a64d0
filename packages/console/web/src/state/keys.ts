import { hasLetterKeys } from './theme.js';

export interface Shortcut {
  /** `w`, `/`, `g t`, `mod+k`, `mod+Enter`. */
  readonly keys: string;
  readonly say: string;
  /** Returns false where it does not apply now. */
  run(): boolean | void;
}

/** The newest first: what is on the screen goes before what the page always has. */
const shortcuts: Shortcut[] = [];

/** Adds shortcuts until the returned function is called. */
export function addKeys(added: readonly Shortcut[]): () => void {
  shortcuts.unshift(...added);
  return () => {
    for (const each of added) {
      const at = shortcuts.indexOf(each);
      if (at >= 0) shortcuts.splice(at, 1);
    }
  };
}

export function allKeys(): readonly Shortcut[] {
  return shortcuts;
}

export const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

export function startKeys(): void {
  let prefix = '';
  let timer: ReturnType<typeof setTimeout> | undefined;
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing || event.altKey) return;
    const isMod = isMac ? event.metaKey : event.ctrlKey;
    if (!isMod && (event.ctrlKey || event.metaKey)) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const isDialog = document.querySelector('dialog[open]') !== null;
    if (!isMod && (isTyping(event.target) || !hasLetterKeys.value || isDialog)) return;
    const pressed = isMod ? `mod+${key}` : prefix === '' ? key : `${prefix} ${key}`;
    clearTimeout(timer);
    prefix = '';
    const found = shortcuts.find((each) => each.keys === pressed && each.run() !== false);
    if (found) return event.preventDefault();
    if (!isMod && shortcuts.some((each) => each.keys.startsWith(`${pressed} `))) {
      prefix = pressed;
      timer = setTimeout(() => {
        prefix = '';
      }, 1500);
    }
  });
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement)
    return !['checkbox', 'radio', 'button', 'file'].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
