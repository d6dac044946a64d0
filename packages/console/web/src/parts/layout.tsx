import type { ComponentChildren } from 'preact';

/** The head of a screen: its one h1, what it says beside it, and its actions. */
export function Head({
  title,
  sub,
  children,
}: {
  readonly title: ComponentChildren;
  readonly sub?: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="head">
      <div class="head-words">
        <h1 tabIndex={-1}>{title}</h1>
        {sub && <div class="soft head-sub">{sub}</div>}
      </div>
      {children && <div class="actions">{children}</div>}
    </div>
  );
}

export function Panel({
  title,
  side,
  children,
  label,
  tone,
}: {
  readonly title?: ComponentChildren;
  readonly side?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly label?: string;
  readonly tone?: string;
}) {
  return (
    <section class={`panel ${tone ?? ''}`} aria-label={label}>
      {(title || side) && (
        <header class="panel-head">
          {title && <h2>{title}</h2>}
          {side && <div class="panel-side">{side}</div>}
        </header>
      )}
      {children}
    </section>
  );
}

/** A list beside what is chosen in it. On a narrow screen, one of them is seen. */
export function Split({
  list,
  listLabel,
  hasChoice,
  back,
  children,
}: {
  readonly list: ComponentChildren;
  readonly listLabel: string;
  readonly hasChoice: boolean;
  readonly back: string;
  readonly children: ComponentChildren;
}) {
  return (
    <div class={`split ${hasChoice ? 'has-choice' : ''}`}>
      <nav class="split-list" aria-label={listLabel}>
        {list}
      </nav>
      <div class="split-main">
        {hasChoice && (
          <a class="back" href={back}>
            ← {listLabel}
          </a>
        )}
        {children}
      </div>
    </div>
  );
}

/** What may be wider than the screen. It scrolls by itself, also by keyboard. */
export function Wide({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reached by keyboard
    <section class="scroll-x" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
