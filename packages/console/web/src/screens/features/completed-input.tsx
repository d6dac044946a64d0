import { useEffect, useId, useState } from 'preact/hooks';
import type { CompleteRequest } from '../../../../src/contract.js';
import { ask } from '../../api.js';
import { plural } from '../../parts/format.js';
import { plain, Text } from '../../parts/text.js';
import { upstream } from '../../state/connection.js';
import { isGateway, may } from '../../state/session.js';

export interface CompletedInputProps {
  readonly name: string;
  /** Undefined: absent. */
  readonly value: string | undefined;
  /** The other values, which a server may take into account. */
  readonly values: Readonly<Record<string, string>>;
  readonly reference: CompleteRequest['ref'];
  readonly server: string | undefined;
  readonly onChange: (value: string | undefined) => void;
  /** An empty text is a value, and not the same as an absent one. */
  readonly hasEmpty?: boolean;
  readonly isRequired?: boolean;
  readonly about?: string | undefined;
}

/** A text that the server completes. */
export function CompletedInput({
  name,
  value,
  values,
  reference,
  server,
  onChange,
  hasEmpty,
  isRequired,
  about,
}: CompletedInputProps) {
  const id = useId();
  const [found, setFound] = useState<readonly string[]>([]);
  const [more, setMore] = useState('');
  const canComplete = may('act') && (isGateway() || 'completions' in (upstream.value?.capabilities ?? {}));
  const { [name]: _, ...context } = values;
  useEffect(() => {
    if (!canComplete) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      const body = {
        ref: reference,
        argument: { name, value: value ?? '' },
        context,
        ...(server !== undefined && { server }),
      };
      ask('POST complete', { body, signal: stop.signal }).then(
        ({ values: texts, total, hasMore }) => {
          setFound(texts.slice(0, 100));
          setMore(hasMore ? `${total ?? 'more'} in all` : '');
        },
        () => setFound([]),
      );
    }, 200);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
    // The other values may decide what fits.
  }, [value, canComplete, JSON.stringify(context)]);
  return (
    <div class="field">
      <div class="field-head">
        <label for={id}>
          <span class="field-name">
            <code>{plain(name)}</code>
            {isRequired && (
              <span class="required" title="required">
                *<span class="unseen"> required</span>
              </span>
            )}
          </span>
        </label>
        <span class="field-type">
          {found.length > 0
            ? `${plural(found.length, 'suggestion')} ${more}`
            : canComplete
              ? 'the server completes it'
              : 'text'}
        </span>
      </div>
      <div class="field-body">
        <div class="field-control">
          <input
            id={id}
            type="text"
            list={found.length > 0 ? `${id}-list` : undefined}
            autocomplete="off"
            spellcheck={false}
            placeholder={value === undefined || !hasEmpty ? 'absent' : ''}
            value={value ?? ''}
            onInput={(event) => onChange(event.currentTarget.value)}
          />
          <datalist id={`${id}-list`}>
            {found.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
          {hasEmpty && (
            <select
              class="state"
              aria-label={`state of ${plain(name)}`}
              value={value === undefined ? 'absent' : 'value'}
              onChange={(event) => onChange(event.currentTarget.value === 'absent' ? undefined : '')}
            >
              <option value="value">value</option>
              <option value="absent">absent</option>
            </select>
          )}
        </div>
        {hasEmpty && value === '' && <p class="field-about soft">an empty text is sent</p>}
        {about !== undefined && (
          <p class="field-about soft">
            <Text of={about} max={400} />
          </p>
        )}
      </div>
    </div>
  );
}
