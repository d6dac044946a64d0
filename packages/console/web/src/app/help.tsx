import type { Ref } from 'preact';
import { Check } from '../parts/controls.js';
import { Dialog, type DialogHandle } from '../parts/dialog.js';
import { allKeys, isMac } from '../state/keys.js';
import { hasLetterKeys } from '../state/theme.js';

export function Help({ handle }: { readonly handle: Ref<DialogHandle> }) {
  return (
    <Dialog title="Shortcuts" handle={handle}>
      <Shortcuts />
      <Check
        checked={hasLetterKeys.value}
        onChange={(checked) => {
          hasLetterKeys.value = checked;
        }}
      >
        Shortcuts of one letter
      </Check>
    </Dialog>
  );
}

function Shortcuts() {
  const seen = new Map(allKeys().map(({ keys, say }) => [keys, say]));
  return (
    <dl class="shortcuts">
      {[...seen].map(([keys, say]) => (
        <div key={keys}>
          <dt>
            {keys.split(' ').map((key) => (
              <kbd key={key}>
                {key
                  .replace(
                    /mod\+(\w)$/,
                    (_, letter: string) => `${isMac ? '⌘' : 'Ctrl '}${letter.toUpperCase()}`,
                  )
                  .replace('mod+', isMac ? '⌘' : 'Ctrl ')
                  .replace('Enter', '⏎')}
              </kbd>
            ))}
          </dt>
          <dd>{say}</dd>
        </div>
      ))}
    </dl>
  );
}
