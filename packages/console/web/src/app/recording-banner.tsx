import { ask } from '../api.js';
import { Button } from '../parts/controls.js';
import { plain } from '../parts/text.js';
import { to } from '../state/route.js';
import { may } from '../state/session.js';
import { recordings } from '../state/store.js';
import { now } from '../state/time.js';

/** Messages of clients are kept: every screen says so for as long as it lasts. */
export function RecordingBanner() {
  const running = recordings.all.value.findLast(({ state }) => state === 'running');
  if (!running) return null;
  const { id, by, servers, caller, until } = running;
  const of = servers ? servers.map((each) => plain(each, 40)).join(', ') : 'all servers';
  const minutes = Math.max(1, Math.ceil((until - now.value) / 60_000));
  return (
    <div class="line-state recording-banner" role="status">
      <span>
        <strong>{`● ${plain(by, 40)} records ${of}`}</strong>
        {`${caller === undefined ? '' : ` for ${plain(caller, 60)}`}, ${minutes} min more`}
      </span>
      {may('record') && (
        <>
          <a href={to('wire')}>See the frames</a>
          <Button kind="quiet" onClick={() => ask('DELETE recordings/:id', { path: [id] }).catch(() => {})}>
            End the recording
          </Button>
        </>
      )}
    </div>
  );
}
