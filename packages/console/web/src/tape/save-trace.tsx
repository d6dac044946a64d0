import { useRef, useState } from 'preact/hooks';
import type { TracePreview } from '../../../src/contract.js';
import { ask, send } from '../api.js';
import { Button, Check } from '../parts/controls.js';
import { Dialog } from '../parts/dialog.js';
import { plural, size } from '../parts/format.js';
import { saveBytes } from '../parts/save.js';
import { Problem } from '../parts/states.js';
import { Text } from '../parts/text.js';
import { may } from '../state/session.js';

/** Saves frames as a trace file. Before that it says what is replaced, and what looks like a secret and stays. */
export function SaveTrace({ call }: { readonly call?: number | undefined }) {
  const [preview, setPreview] = useState<TracePreview | undefined>();
  const [isRedacted, setRedacted] = useState(true);
  const [error, setError] = useState<unknown>();
  const dialog = useRef<{ open(): void; close(): void }>(null);
  const which = call === undefined ? {} : { calls: [call] };
  const open = async () => {
    setError(undefined);
    setPreview(undefined);
    dialog.current?.open();
    try {
      setPreview((await ask('POST traces', { body: { ...which, dry: true } })) as TracePreview);
    } catch (caught) {
      setError(caught);
    }
  };
  const save = async () => {
    try {
      const response = await send('POST traces', { body: { ...which, redact: isRedacted } });
      saveBytes(await response.blob(), call === undefined ? 'isthmus.mcptrace' : `call-${call}.mcptrace`);
      dialog.current?.close();
    } catch (caught) {
      setError(caught);
    }
  };
  return (
    <>
      <Button title="Save a trace file" onClick={open}>
        Save…
      </Button>
      <Dialog title="Save a trace file" handle={dialog}>
        <p>
          A trace file has the frames, one JSON object a line. <code>isthmus inspect FILE</code> opens it
          without the server.
        </p>
        <Problem error={error} />
        {!preview && error === undefined && <p class="soft">Looking for secrets …</p>}
        {preview && (
          <>
            <p>
              <strong>{plural(preview.frames, 'frame')}</strong>, {size(preview.bytes)}.{' '}
              {preview.findings.length === 0 && 'Nothing looks like a secret.'}
            </p>
            {preview.findings.length > 0 && (
              <div class="scroll-y">
                <table>
                  <thead>
                    <tr>
                      <th>frame</th>
                      <th>what</th>
                      <th>why</th>
                      <th>around it</th>
                    </tr>
                  </thead>
                  <tbody>
                    {preview.findings.map((finding, at) => (
                      <tr key={at}>
                        <td>{finding.seq}</td>
                        <td class="nowrap">{finding.what === 'replaced' ? 'is replaced' : 'stays'}</td>
                        <td>{finding.why}</td>
                        <td>
                          <code>
                            <Text of={finding.around} max={120} />
                          </code>
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )}
            {may('record') && (
              <Check checked={isRedacted} onChange={setRedacted}>
                Replace secrets. Switch it off only for a file that stays with you.
              </Check>
            )}
          </>
        )}
        <div class="actions">
          <Button kind="primary" disabled={!preview} onClick={save}>
            Save
          </Button>
        </div>
      </Dialog>
    </>
  );
}
