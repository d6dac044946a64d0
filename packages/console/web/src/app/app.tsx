import { useEffect, useRef } from 'preact/hooks';
import type { DialogHandle } from '../parts/dialog.js';
import { useKeys } from '../parts/use-keys.js';
import { go, place, to } from '../state/route.js';
import { hello, isGateway, phase } from '../state/session.js';
import { questions } from '../state/store.js';
import { nextTheme } from '../state/theme.js';
import { Announcer } from './announcer.js';
import { Door } from './door.js';
import { Drawer, toggleDrawer } from './drawer.js';
import { Header } from './header.js';
import { Help } from './help.js';
import { LineState } from './line-state.js';
import { Palette } from './palette.js';
import { screensOf } from './places.js';
import { Rail } from './rail.js';
import { RecordingBanner } from './recording-banner.js';
import { Screen } from './screen-switch.js';

/** The whole page. */
export function App() {
  const help = useRef<DialogHandle>(null);
  const palette = useRef<DialogHandle>(null);
  const { parts } = place.value;
  const where = parts.join('/');
  const known = hello.value;
  useKeys([
    { keys: '?', say: 'Show all shortcuts', run: () => help.current?.open() },
    { keys: 'mod+k', say: 'Go to anything', run: () => palette.current?.open() },
    { keys: '/', say: 'Filter the list', run: focusFilter },
    { keys: 'w', say: 'Show or hide the tape', run: toggleDrawer },
    { keys: 't', say: 'Light or dark', run: nextTheme },
    { keys: 'j', say: 'The next of a list', run: () => moveInList(1) },
    { keys: 'k', say: 'The one before in a list', run: () => moveInList(-1) },
    ...screensOf(isGateway()).map(({ key, name, at }) => ({
      keys: `g ${key}`,
      say: `Go to ${name}`,
      run: () => go(to(...at)),
    })),
  ]);
  useEffect(() => {
    const waiting = questions.all.value.length;
    const name = known?.target?.label ?? 'gateway';
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${name.slice(0, 60)} · isthmus`;
  }, [known, questions.all.value.length]);
  useEffect(() => {
    document.getElementById('main')?.scrollTo(0, 0);
  }, [where]);
  if (phase.value.at === 'door') return <Door problem={phase.value.problem} />;
  if (!known) return <p class="boot">Connecting to the process …</p>;
  return (
    <div class="page">
      <button type="button" class="skip-link" onClick={skip}>
        Skip to the content
      </button>
      <Header onHelp={() => help.current?.open()} onPalette={() => palette.current?.open()} />
      <LineState />
      <RecordingBanner />
      <div class="body">
        <Rail />
        <div class="work">
          <main id="main" tabIndex={-1}>
            <Screen />
          </main>
          <Drawer />
        </div>
      </div>
      <Help handle={help} />
      <Palette handle={palette} />
      <Announcer />
    </div>
  );
}

function skip(): void {
  document.getElementById('main')?.focus();
}

function focusFilter(): boolean {
  const filter =
    document.querySelector<HTMLInputElement>('main [data-filter]') ??
    document.querySelector<HTMLInputElement>('[data-filter]');
  filter?.focus();
  filter?.select();
  return filter !== null;
}

/** Moves through the links of the list on the screen. */
function moveInList(by: number): boolean {
  const links = [
    ...document.querySelectorAll<HTMLElement>('main .list a, main .list-table tbody a.row-link'),
  ];
  if (links.length === 0) return false;
  const focused = links.indexOf(document.activeElement as HTMLElement);
  const from =
    focused >= 0 ? focused : links.findIndex((link) => link.getAttribute('aria-current') === 'page');
  links[Math.min(links.length - 1, Math.max(0, from + by))]!.focus();
  return true;
}
