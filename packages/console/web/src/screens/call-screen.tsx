import { CallCard } from '../calls/call-card.js';
import { LensView } from '../lens/lens-view.js';
import { Head } from '../parts/layout.js';
import { Empty } from '../parts/states.js';
import { to } from '../state/route.js';
import { calls } from '../state/store.js';

/** One call; `#/call/12/lens` shows both of its sides. */
export function CallScreen({ rest: [number, view] }: { readonly rest: readonly string[] }) {
  const id = Number(number);
  if (!Number.isSafeInteger(id) || id < 1)
    return <Empty isScreen title="This is not the number of a call." />;
  const row = calls.get(id);
  const name = row?.tool ?? row?.prompt ?? row?.uri ?? row?.method ?? '';
  return (
    <div class="stack wide-gap">
      <Head title={`Call #${id}`} sub={name.slice(0, 120)}>
        <a class="button" href={to('call', id)} aria-current={view === undefined ? 'page' : undefined}>
          Result
        </a>
        <a class="button" href={to('call', id, 'lens')} aria-current={view === 'lens' ? 'page' : undefined}>
          Lens
        </a>
      </Head>
      {view === 'lens' ? <LensView key={id} id={id} /> : <CallCard key={id} id={id} />}
    </div>
  );
}
