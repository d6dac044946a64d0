import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';

export const theme = signal<Theme>(readTheme());
/** Shortcuts of one letter. People who speak to their computer switch them off. */
export const hasLetterKeys = signal(localStorage.getItem('isthmus-letter-keys') !== 'off');

effect(() => {
  document.documentElement.dataset['theme'] = theme.value;
  localStorage.setItem('isthmus-theme', theme.value);
});
effect(() => localStorage.setItem('isthmus-letter-keys', hasLetterKeys.value ? 'on' : 'off'));

export function nextTheme(): void {
  const isDark =
    theme.value === 'dark' ||
    (theme.value === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
  theme.value = isDark ? 'light' : 'dark';
}

function readTheme(): Theme {
  const kept = localStorage.getItem('isthmus-theme');
  return kept === 'light' || kept === 'dark' ? kept : 'system';
}
