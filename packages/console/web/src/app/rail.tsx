import { useEffect } from 'preact/hooks';
import { count } from '../parts/format.js';
import { seeChanges, unseenChanges } from '../state/lists.js';
import { place, to } from '../state/route.js';
import { hello, isGateway } from '../state/session.js';
import { screensOf } from './places.js';

export function Rail() {
  const [first = ''] = place.value.parts;
  useEffect(() => {
    // On a narrow screen the rail is a row that scrolls.
    document.querySelector('.rail [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [first]);
  useEffect(() => seeChanges(first), [first, unseenChanges.value]);
  const here = PARENTS[first] ?? first;
  return (
    <nav class="rail" aria-label="Screens">
      <ul>
        {screensOf(isGateway()).map(({ name, at, count: number, hasChanged, isUrgent }) => {
          const shown = number?.();
          const urgent = isUrgent?.() === true;
          return (
            <li key={name}>
              <a
                href={to(...at)}
                aria-current={(at[0] ?? '') === here ? 'page' : undefined}
                class={urgent ? 'urgent' : ''}
              >
                <span>
                  {name}
                  {hasChanged?.() === true && (
                    <span class="rail-news" title="It has changed">
                      <span class="unseen"> has changed</span>
                    </span>
                  )}
                </span>
                {shown !== undefined && <span class="rail-count">{count(shown)}</span>}
                {urgent && shown === undefined && <span class="rail-count">rec</span>}
              </a>
            </li>
          );
        })}
      </ul>
      <p class="rail-foot soft">{`isthmus ${hello.value?.version ?? ''}`}</p>
    </nav>
  );
}

const PARENTS: Readonly<Record<string, string>> = { call: 'calls', frame: 'wire', server: '' };
