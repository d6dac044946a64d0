import type { ComponentChildren } from 'preact';
import { ApiError } from '../api.js';
import { Text } from './text.js';

/** Nothing is here. It says why, and what to do next. `isScreen`: the screen has nothing else. */
export function Empty({
  title,
  children,
  isScreen = false,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly isScreen?: boolean;
}) {
  return (
    <div class="empty">
      {isScreen ? (
        <h1 class="empty-title" tabIndex={-1}>
          {title}
        </h1>
      ) : (
        <p class="empty-title">{title}</p>
      )}
      {children && <div class="soft">{children}</div>}
    </div>
  );
}

/** Something was refused, or failed. */
export function Problem({
  error,
  children,
}: {
  readonly error: unknown;
  readonly children?: ComponentChildren;
}) {
  if (error === undefined) return null;
  const message = error instanceof Error ? error.message : String(error);
  const api = error instanceof ApiError ? error : undefined;
  return (
    <div class="problem" role="alert">
      <p>
        <strong>
          <Text of={message} />
        </strong>
        {api && <code class="code">{api.code}</code>}
      </p>
      {api?.hint && (
        <p>
          <Text of={api.hint} />
        </p>
      )}
      {api && api.evidence.length > 0 && (
        <pre>
          <Text of={api.evidence.join('\n')} />
        </pre>
      )}
      {children}
    </div>
  );
}

export function Loading({ what }: { readonly what: string }) {
  return <p class="soft loading">{`${what} …`}</p>;
}

export function Badge({
  kind,
  children,
}: {
  readonly kind?: 'pass' | 'warn' | 'fail' | 'error' | 'soft' | 'info';
  readonly children: ComponentChildren;
}) {
  return <span class={`badge ${kind ?? 'soft'}`}>{children}</span>;
}
