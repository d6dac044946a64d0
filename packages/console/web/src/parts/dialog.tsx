import type { ComponentChildren, Ref } from 'preact';
import { useId, useImperativeHandle, useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface DialogHandle {
  open(): void;
  close(): void;
}

/** A dialog of the browser: it keeps the focus, Escape closes it, and the focus goes back to where it was. */
export function Dialog({
  title,
  handle,
  children,
}: {
  readonly title: string;
  readonly handle: Ref<DialogHandle>;
  readonly children: ComponentChildren;
}) {
  const element = useRef<HTMLDialogElement>(null);
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  useImperativeHandle(handle, () => ({
    open: () => setOpen(true),
    close: () => element.current?.close(),
  }));
  // After its content is there, so that the focus goes to the first control.
  useLayoutEffect(() => {
    if (isOpen) element.current?.showModal();
  }, [isOpen]);
  return (
    <dialog
      ref={element}
      aria-labelledby={id}
      onClose={() => setOpen(false)}
      onMouseDown={(event) => {
        if (event.target === element.current) element.current?.close();
      }}
    >
      {isOpen && (
        <div class="dialog">
          <h2 id={id}>{title}</h2>
          {children}
          {/* Last, so that the focus goes to the first control of the content. */}
          <button type="button" class="quiet dialog-close" onClick={() => element.current?.close()}>
            Close <kbd>Esc</kbd>
          </button>
        </div>
      )}
    </dialog>
  );
}
