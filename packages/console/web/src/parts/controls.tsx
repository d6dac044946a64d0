import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

export interface ButtonProps {
  readonly children: ComponentChildren;
  readonly onClick: () => unknown;
  readonly kind?: 'primary' | 'danger' | 'quiet' | 'plain';
  readonly disabled?: boolean;
  /** The shortcut, shown beside the name. */
  readonly keys?: string;
  readonly title?: string;
  readonly pressed?: boolean;
  /** What a shortcut looks for. */
  readonly verb?: string;
}

export function Button({ children, onClick, kind, disabled, keys, title, pressed, verb }: ButtonProps) {
  return (
    <button
      type="button"
      class={kind ?? ''}
      disabled={disabled}
      title={title}
      aria-pressed={pressed}
      data-verb={verb}
      onClick={() => void onClick()}
    >
      {children}
      {keys && <kbd>{keys}</kbd>}
    </button>
  );
}

/** Says for a moment that it has copied. */
export function CopyButton({
  text,
  children = 'Copy',
  title,
}: {
  readonly text: () => string | Promise<string>;
  readonly children?: ComponentChildren;
  readonly title?: string;
}) {
  const [state, setState] = useState<'' | 'copied' | 'failed'>('');
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(await text());
      setState('copied');
    } catch {
      setState('failed');
    }
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setState(''), 2000);
  };
  return (
    <>
      <Button kind="quiet" onClick={copy} {...(title !== undefined && { title })}>
        {state === 'copied' ? 'Copied' : state === 'failed' ? 'Not copied' : children}
      </Button>
      <span role="status" class="unseen">
        {state}
      </span>
    </>
  );
}

export interface Choice<Value extends string> {
  readonly value: Value;
  readonly say: string;
}

/** One of a few, in a row of buttons. */
export function Segments<Value extends string>({
  label,
  value,
  choices,
  onChange,
}: {
  readonly label: string;
  readonly value: Value;
  readonly choices: readonly Choice<Value>[];
  readonly onChange: (value: Value) => void;
}) {
  return (
    <fieldset class="segments">
      <legend class="unseen">{label}</legend>
      {choices.map((choice) => (
        <button
          key={choice.value}
          type="button"
          aria-pressed={choice.value === value}
          onClick={() => onChange(choice.value)}
        >
          {choice.say}
        </button>
      ))}
    </fieldset>
  );
}

/** A labelled `select`. */
export function Select<Value extends string>({
  label,
  value,
  choices,
  onChange,
  isLabelSeen = true,
}: {
  readonly label: string;
  readonly value: Value;
  readonly choices: readonly Choice<Value>[];
  readonly onChange: (value: Value) => void;
  readonly isLabelSeen?: boolean;
}) {
  return (
    <label class="inline">
      <span class={isLabelSeen ? 'soft' : 'unseen'}>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value as Value)}>
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.say}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Check({
  checked,
  onChange,
  children,
  disabled,
}: {
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly children: ComponentChildren;
  readonly disabled?: boolean;
}) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>{children}</span>
    </label>
  );
}

/** Filters a list. `/` leads here. */
export function Filter({
  label,
  value,
  onInput,
}: {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
}) {
  return (
    <input
      type="search"
      class="filter"
      data-filter
      aria-label={label}
      placeholder={`${label}  /`}
      value={value}
      spellcheck={false}
      autocomplete="off"
      onInput={(event) => onInput(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') event.currentTarget.blur();
      }}
    />
  );
}
