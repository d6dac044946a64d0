import { useEffect, useState } from 'preact/hooks';
import { ask } from '../api.js';
import { Button, Select } from '../parts/controls.js';
import { plural, size } from '../parts/format.js';
import { Panel } from '../parts/layout.js';
import { Problem } from '../parts/states.js';
import { plain } from '../parts/text.js';
import { has, may } from '../state/session.js';
import { recordings, status } from '../state/store.js';

/** Messages of clients are not kept until a person asks for it, for a while, with their secrets replaced. */
export function Recording() {
  const [server, setServer] = useState('');
  const [caller, setCaller] = useState('');
  const [callers, setCallers] = useState<readonly string[]>([]);
  const [minutes, setMinutes] = useState('15');
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    if (!may('record')) return;
    ask('GET callers', {}).then(
      (rows) => setCallers(rows.flatMap(({ principal }) => principal ?? [])),
      () => {},
    );
  }, []);
  const running = recordings.all.value.findLast(({ state }) => state === 'running');
  if (!has('record')) return <p class="soft">Recording is forbidden here (--no-record).</p>;
  if (!may('record')) return null;
  const begin = async () => {
    setError(undefined);
    try {
      const body = {
        minutes: Number(minutes),
        ...(server !== '' && { servers: [server] }),
        ...(caller !== '' && { caller }),
      };
      const view = await ask('POST recordings', { body });
      recordings.set(view.id, view);
    } catch (caught) {
      setError(caught);
    }
  };
  return (
    <Panel title="Recording" tone={running ? 'recording' : ''} label="Recording">
      {running ? (
        <p>{`It has ${plural(running.frames, 'frame')}, ${size(running.bytes)}. Another one can begin after it.`}</p>
      ) : (
        <>
          <p class="soft">
            Messages of clients are not kept. A recording keeps them in memory, at most 16 MiB, with secrets
            replaced. The log says who records.
          </p>
          <div class="actions start">
            <Select
              label="of"
              value={server}
              onChange={setServer}
              choices={[
                { value: '', say: 'all servers' },
                ...(status.value?.servers ?? []).map(({ name }) => ({ value: name, say: plain(name, 60) })),
              ]}
            />
            {callers.length > 0 && (
              <Select
                label="called by"
                value={caller}
                onChange={setCaller}
                choices={[
                  { value: '', say: 'every caller' },
                  ...callers.map((value) => ({ value, say: plain(value, 60) })),
                ]}
              />
            )}
            <Select
              label="for"
              value={minutes}
              onChange={setMinutes}
              choices={['1', '5', '15'].map((value) => ({ value, say: `${value} min` }))}
            />
            <Button onClick={begin}>Record</Button>
          </div>
        </>
      )}
      <Problem error={error} />
    </Panel>
  );
}
