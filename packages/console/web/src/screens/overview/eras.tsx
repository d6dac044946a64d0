import type { ConnectionView, EraName } from '../../../../src/contract.js';
import { EraSign } from '../../parts/era.js';
import { plain } from '../../parts/text.js';
import { listOf } from '../../state/lists.js';
import { has, may } from '../../state/session.js';
import { under } from '../screen.js';

const ABOUT: Readonly<Record<EraName, { readonly years: string; readonly say: string }>> = {
  legacy: {
    years: '2024-11-05 to 2025-11-25',
    say: 'The client says hello once. The server remembers it for the session.',
  },
  modern: {
    years: '2026-07-28',
    say: 'Every request says who asks and what it can do. There is no session.',
  },
};

/** Both eras at a glance: the one that the server speaks, and how clients of the other one reach it. */
export function Eras({ connection }: { readonly connection: ConnectionView }) {
  const { era, revision, supported } = connection.verdict!;
  const speaks = (which: EraName) =>
    which === era ? (
      <>
        <strong>{`This server speaks ${plain(revision, 20)}`}</strong>
        {supported && supported.length > 1 && (
          <span>{`It also takes ${supported
            .filter((each) => each !== revision)
            .map((each) => plain(each, 20))
            .join(', ')}.`}</span>
        )}
      </>
    ) : (
      <>
        <strong>Clients of this era reach it through a bridge</strong>
        <span>
          <code>isthmus serve</code> translates every message.
        </span>
      </>
    );
  return (
    <section class="eras" aria-label="The two eras">
      {(['legacy', 'modern'] as const).map((which) => (
        <div key={which} class={`era-card ${which} ${which === era ? 'spoken' : ''}`}>
          <h2>
            <EraSign era={which} />
            {which === 'legacy' ? 'Legacy' : 'Modern'}
            <span class="soft">{ABOUT[which].years}</span>
          </h2>
          <p class="soft">{ABOUT[which].say}</p>
          <p class="era-says">{speaks(which)}</p>
        </div>
      ))}
      <div class="era-bridge" aria-hidden="true">
        <span>bridge</span>
      </div>
      {has('lens') && may('act') && <ShowBoth />}
    </section>
  );
}

/** Leads to a tool that needs no arguments, or to the first one. */
function ShowBoth() {
  const { items } = listOf('tools').value;
  const first = items.find((item) => item['name'] === 'echo') ?? items[0];
  if (!first) return null;
  return (
    <p class="era-both">
      <a class="button" href={under(undefined, 'tools', String(first['name']))}>
        Show one call in both eras
      </a>
      <span class="soft">
        Choose “Call in both eras” there: you see each frame on both sides of the bridge, and why it differs.
      </span>
    </p>
  );
}
