import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { Button } from '../parts/controls.js';
import { place } from '../state/route.js';
import { isGateway, may } from '../state/session.js';
import { Wire } from '../tape/wire.js';

const isDrawerOpen = signal(false);

export function toggleDrawer(): void {
  isDrawerOpen.value = !isDrawerOpen.value;
}

/** The tape below every screen, so that cause and frames are seen together. */
export function Drawer() {
  const [chosen, setChosen] = useState<number | undefined>();
  const [first] = place.value.parts;
  if (first === 'wire' || first === 'frame') return null;
  if (isGateway() && !may('record')) return null;
  const isOpen = isDrawerOpen.value;
  return (
    <section class={`drawer ${isOpen ? 'open' : ''}`} aria-label="Tape">
      <div class="drawer-bar">
        <Button kind="quiet" keys="w" onClick={toggleDrawer}>
          {isOpen ? 'Hide the tape' : 'Show the tape'}
        </Button>
      </div>
      {isOpen && <Wire chosen={chosen} onChoose={setChosen} isSmall />}
    </section>
  );
}
