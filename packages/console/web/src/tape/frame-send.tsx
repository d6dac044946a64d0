import { useState } from 'preact/hooks';
import { ask } from '../api.js';
import { jsonProblem } from '../forms/raw-field.js';
import { compact, member, pretty } from '../json/print.js';
import type { Raw } from '../json/raw.js';
import { tryRaw } from '../json/raw.js';
import { Button, Segments } from '../parts/controls.js';
import { Problem } from '../parts/states.js';
import { beginCall } from '../state/calls.js';
import { go, to } from '../state/route.js';

/** Makes the same call again. */
export async function sendAgain(message: Raw): Promise<void> {
  const method = member(message, 'method');
  if (method?.kind !== 'string') return;
  const params = compact(withoutEnvelope(member(message, 'params')));
  go(to('call', await beginCall({ method: method.value, params })));
}

/** Sends a frame again: as a call with an id of its own, or as exactly these bytes, which may be wrong on purpose. */
export function FrameSend({
  raw,
  text,
  onDone,
}: {
  readonly raw: Raw;
  readonly text: string;
  readonly onDone: () => void;
}) {
  const [as, setAs] = useState<'call' | 'bytes'>('call');
  const [draft, setDraft] = useState(pretty(raw));
  const [error, setError] = useState<unknown>();
  const problem = as === 'call' ? callProblem(draft) : undefined;
  const send = async () => {
    try {
      if (as === 'bytes') await ask('POST calls', { body: { bytes: draft.replaceAll('\n', '') } });
      else await sendAgain(tryRaw(draft)!);
      onDone();
    } catch (caught) {
      setError(caught);
    }
  };
  return (
    <div class="stack">
      <Segments
        label="How it is sent"
        value={as}
        choices={[
          { value: 'call', say: 'As a call' },
          { value: 'bytes', say: 'As exact bytes' },
        ]}
        onChange={(next) => {
          setAs(next);
          if (next === 'bytes') setDraft(text);
        }}
      />
      <p class="soft">
        {as === 'call'
          ? 'It gets an id of its own, and the envelope of the era.'
          : 'Line breaks are taken out, and nothing else is changed. It may be wrong on purpose.'}
      </p>
      <textarea
        class="mono json"
        rows={10}
        aria-label="What is sent"
        spellcheck={false}
        value={draft}
        onInput={(event) => setDraft(event.currentTarget.value)}
      />
      {problem !== undefined && <p class="field-advice">{problem}</p>}
      <Problem error={error} />
      <div class="actions start">
        <Button kind="primary" disabled={problem !== undefined} onClick={send}>
          Send
        </Button>
        <Button onClick={onDone}>Do not send</Button>
      </div>
    </div>
  );
}

function callProblem(draft: string): string | undefined {
  const problem = jsonProblem(draft);
  if (problem !== undefined) return problem;
  return member(tryRaw(draft), 'method')?.kind === 'string' ? undefined : 'A call needs "method"';
}

/** The envelope and the progress token are those of the new call. */
function withoutEnvelope(params: Raw | undefined): Raw {
  if (params?.kind !== 'object') return { kind: 'object', members: [] };
  const members = params.members.flatMap(([name, value]) => {
    if (name !== '_meta' || value.kind !== 'object') return [[name, value] as const];
    const own = value.members.filter(
      ([key]) => !key.startsWith('io.modelcontextprotocol/') && key !== 'progressToken',
    );
    return own.length === 0 ? [] : [[name, { kind: 'object', members: own }] as const];
  });
  return { kind: 'object', members };
}
