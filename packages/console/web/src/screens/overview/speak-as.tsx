import { useEffect, useState } from 'preact/hooks';
import type { ConnectionSettings, ConnectionView } from '../../../../src/contract.js';
import { ask } from '../../api.js';
import { Button, Select } from '../../parts/controls.js';
import { hello } from '../../state/session.js';

const MODES = [
  { value: 'auto', say: 'find out' },
  { value: 'modern', say: 'modern' },
  { value: 'legacy', say: 'legacy' },
  { value: '2026-07-28', say: '2026-07-28' },
  { value: '2025-11-25', say: '2025-11-25' },
  { value: '2025-06-18', say: '2025-06-18' },
  { value: '2025-03-26', say: '2025-03-26' },
  { value: '2024-11-05', say: '2024-11-05' },
];

/** Which era is spoken. Another choice connects again. */
export function SpeakAs({
  connection,
  onError,
}: {
  readonly connection: ConnectionView;
  readonly onError: (error: unknown) => void;
}) {
  const [settings, setSettings] = useState<ConnectionSettings | undefined>();
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    ask('GET connection', {}).then(setSettings, onError);
  }, [connection.id]);
  const names = hello.value?.target?.names ?? [];
  const connect = async (next: ConnectionSettings) => {
    setBusy(true);
    onError(undefined);
    setSettings(next);
    try {
      await ask('PUT connection', { body: next });
    } catch (error) {
      onError(error);
    }
    setBusy(false);
  };
  const hangUp = () => ask('DELETE connection', {}).catch(onError);
  if (!settings) return null;
  return (
    <>
      {names.length > 0 && (
        <Select
          label="Server"
          value={settings.name ?? ''}
          choices={names.map((name) => ({ value: name, say: name }))}
          onChange={(name) => void connect({ ...settings, name })}
        />
      )}
      <Select
        label="Speak as"
        value={settings.mode}
        choices={MODES}
        onChange={(mode) => void connect({ ...settings, mode })}
      />
      <Button disabled={isBusy} onClick={() => connect(settings)}>
        {isBusy ? 'Connecting …' : 'Connect again'}
      </Button>
      {connection.state === 'open' && <Button onClick={hangUp}>Hang up</Button>}
    </>
  );
}
