import { useSignalEffect } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { rows } from '../state/store.js';
import { TapeRow } from './tape-row.js';
import { type TapeFilter, TapeView } from './tape-view.js';

export const ROW_HEIGHT = 24;
const EXTRA = 8;
const KEYS = 1024;

export interface TapeProps {
  readonly filter: TapeFilter;
  readonly isPaused: boolean;
  /** The number of the frame that is shown. */
  readonly chosen: number | undefined;
  readonly onChoose: (seq: number) => void;
  readonly isFollowing: boolean;
  readonly onFollowing: (isFollowing: boolean) => void;
  readonly label: string;
}

/** All frames, in a window: only the rows that are seen are made. */
export function Tape({ filter, isPaused, chosen, onChoose, isFollowing, onFollowing, label }: TapeProps) {
  const box = useRef<HTMLDivElement>(null);
  const [, setTick] = useState(0);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(400);
  const view = useMemo(() => new TapeView(rows, filter), [filter]);
  view.pausedAt = isPaused ? (view.pausedAt ?? rows.end) : undefined;
  view.catchUp();
  useSignalEffect(() => {
    void rows.version.value;
    setTick((tick) => tick + 1);
  });
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setHeight(entry!.contentRect.height));
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  const { length } = view;
  useLayoutEffect(() => {
    if (isFollowing && box.current) box.current.scrollTop = length * ROW_HEIGHT;
  }, [isFollowing, length, height]);
  const first = Math.max(0, Math.floor(top / ROW_HEIGHT) - EXTRA);
  const last = Math.min(length, Math.ceil((top + height) / ROW_HEIGHT) + EXTRA);
  const chosenPlace = chosen === undefined ? undefined : rows.placeOf(chosen);
  const chosenIndex = chosenPlace === undefined ? -1 : view.indexOf(chosenPlace);
  useEffect(() => {
    // A frame that a link names may be far from what is seen.
    if (chosenIndex >= 0 && box.current && !isSeen(box.current, chosenIndex))
      box.current.scrollTop = chosenIndex * ROW_HEIGHT - box.current.clientHeight / 2;
  }, [chosen, chosenIndex >= 0, height]);
  const move = (by: number) => {
    const next = Math.min(length - 1, Math.max(0, chosenIndex < 0 ? length - 1 : chosenIndex + by));
    if (length === 0) return;
    onFollowing(false);
    onChoose(rows.at(view.placeAt(next)).seq);
    if (box.current && !isSeen(box.current, next)) box.current.scrollTop = (next - 2) * ROW_HEIGHT;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = MOVES[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    move(by);
  };
  return (
    <div
      class="tape-box"
      ref={box}
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={length}
      aria-activedescendant={chosenIndex >= first && chosenIndex < last ? `row-${chosen}` : undefined}
      onKeyDown={onKeyDown}
      onScroll={({ currentTarget }) => {
        setTop(currentTarget.scrollTop);
        const isAtEnd =
          currentTarget.scrollTop + currentTarget.clientHeight >= currentTarget.scrollHeight - ROW_HEIGHT;
        // While a frame is shown, the list stays where it is.
        if (isAtEnd !== isFollowing && !(isAtEnd && chosen !== undefined)) onFollowing(isAtEnd);
      }}
    >
      <div class="tape-rows" role="presentation" style={{ height: `${length * ROW_HEIGHT}px` }}>
        {Array.from({ length: Math.max(0, last - first) }, (_, offset) => {
          const index = first + offset;
          const place = view.placeAt(index);
          const row = rows.at(place);
          return (
            <TapeRow
              // Not by the number of the frame: while many come, the elements of the rows stay.
              key={place % KEYS}
              row={row}
              index={index}
              gap={rows.gaps.get(place)}
              isChosen={row.seq === chosen}
              onChoose={() => {
                onFollowing(false);
                onChoose(row.seq);
              }}
            />
          );
        })}
      </div>
    </div>
  );
}

const MOVES: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  j: 1,
  ArrowUp: -1,
  k: -1,
  PageDown: 20,
  PageUp: -20,
  Home: -1e9,
  End: 1e9,
};

function isSeen(box: HTMLElement, index: number): boolean {
  const top = index * ROW_HEIGHT;
  return top >= box.scrollTop && top + ROW_HEIGHT <= box.scrollTop + box.clientHeight;
}
