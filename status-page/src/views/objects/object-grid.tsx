import type { JSX, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useMedia } from "../../live/hooks.ts";
import type { Entry } from "../../model/entries.ts";
import { firstInSight, type ListPosition, moveInList, scrollToShow, windowOf } from "../../model/list-window.ts";
import { formatPlace } from "../../model/place.ts";
import { GridHead, GridRow } from "./grid-row.tsx";

interface ObjectGridProps {
  /** Key under which the grid stores its position. */
  readonly id: string;
  /** The selection; a change resets the position. */
  readonly choice: string;
  readonly entries: readonly Entry[];
  readonly label: string;
  readonly clockAheadMs: number;
  readonly showsKind: boolean;
  /** Text without rows. */
  readonly empty: string;
}

interface Remembered {
  readonly choice: string;
  /** Reference of the active row: rows move while the list lives. */
  active: string | undefined;
  scrollTop: number;
}

/** Pixels, as in the style sheet. */
interface Sizes {
  readonly head: number;
  readonly row: number;
}

const WIDE: Sizes = { head: 32, row: 36 };

/** Two lines per row, no header. */
const NARROW: Sizes = { head: 0, row: 64 };

/** Extra rows above and below the visible ones. */
const BEYOND = 6;

const remembered = new Map<string, Remembered>();

/**
 * A list of any length that renders only its visible rows. The focus stays on the list, which names its active row
 * (`aria-activedescendant`), because a row that scrolls out of the document would lose the focus.
 */
export function ObjectGrid(props: ObjectGridProps): JSX.Element {
  const { entries, label, empty } = props;
  const sizes = useMedia("(max-width: 760px)") ? NARROW : WIDE;
  const view = useRef<HTMLDivElement>(null);
  const height = useHeight(view) - sizes.head;
  const { scrollTop, setScrollTop, active, activate } = useGridPlace(props, view, height, sizes.row);
  const { start, end } = windowOf(scrollTop, height, sizes.row, entries.length, BEYOND);
  // A new row reuses the elements of one that left: creating elements is the largest part of the frame time.
  const pool = end - start;
  const page = Math.max(1, Math.floor(height / sizes.row) - 1);
  const first = firstInSight(scrollTop, sizes.row, entries.length);
  const position: ListPosition = { active, first, count: entries.length, page };
  return (
    <div class="grid-frame">
      <div
        ref={view}
        class="grid"
        role="grid"
        tabIndex={0}
        data-arrival
        aria-label={label}
        aria-rowcount={entries.length + 1}
        aria-activedescendant={active >= start && active < end ? rowId(active) : undefined}
        onKeyDown={(event) => onKey(event, { entries, position, activate })}
        // A visible row: the list must not scroll when a click focuses it.
        onFocus={() => (active < 0 ? activate(first) : undefined)}
        onScroll={({ currentTarget }) => setScrollTop(currentTarget.scrollTop)}
      >
        <GridHead />
        <div class="grid-rows" role="rowgroup" style={{ height: `${entries.length * sizes.row}px` }}>
          {entries.slice(start, end).map((entry, offset) => (
            <GridRow
              key={(start + offset) % pool}
              id={rowId(start + offset)}
              entry={entry}
              index={start + offset}
              top={(start + offset) * sizes.row}
              isActive={start + offset === active}
              clockAheadMs={props.clockAheadMs}
              showsKind={props.showsKind}
              open={() => {
                activate(start + offset);
                open(entry);
              }}
            />
          ))}
        </div>
      </div>
      {entries.length === 0 ? <p class="empty">{empty}</p> : null}
    </div>
  );
}

interface GridPlace {
  readonly scrollTop: number;
  readonly setScrollTop: (scrollTop: number) => void;
  /** Index of the active row; -1: none. */
  readonly active: number;
  /** Activates a row and scrolls to it. */
  readonly activate: (index: number) => void;
}

/** The position in the list, kept while another view is open. */
function useGridPlace(
  { id, choice, entries }: ObjectGridProps,
  view: RefObject<HTMLDivElement | null>,
  height: number,
  rowHeight: number,
): GridPlace {
  const memory = memoryOf(id, choice);
  const [scrollTop, setScrollTop] = useState(memory.scrollTop);
  const [active, setActive] = useState(memory.active);
  useLayoutEffect(() => {
    setActive(memory.active);
    view.current?.scrollTo({ top: memory.scrollTop });
  }, [memory]);
  return {
    scrollTop,
    setScrollTop: (top) => {
      memory.scrollTop = top;
      setScrollTop(top);
    },
    active: active === undefined ? -1 : entries.findIndex(({ row }) => row.object === active),
    activate: (index) => {
      const object = entries[index]?.row.object;
      if (object === undefined) return;
      memory.active = object;
      setActive(object);
      const top = scrollToShow(index, view.current?.scrollTop ?? 0, height, rowHeight);
      view.current?.scrollTo({ top, behavior: "instant" });
    },
  };
}

interface KeyContext {
  readonly entries: readonly Entry[];
  readonly position: ListPosition;
  readonly activate: (index: number) => void;
}

function onKey(event: KeyboardEvent, { entries, position, activate }: KeyContext): void {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const moved = moveInList(event.key, position);
  if (moved !== undefined) activate(moved);
  else if (event.key === "Enter") open(entries[position.active]);
  else if (event.key === "Escape") location.hash = "#/";
  else return;
  event.preventDefault();
}

function rowId(index: number): string {
  return `row-${index}`;
}

function memoryOf(id: string, choice: string): Remembered {
  const known = remembered.get(id);
  if (known?.choice === choice) return known;
  const fresh: Remembered = { choice, active: undefined, scrollTop: 0 };
  remembered.set(id, fresh);
  return fresh;
}

function open(entry: Entry | undefined): void {
  if (entry !== undefined) location.hash = formatPlace({ view: "object", object: entry });
}

/** The current height of the element. */
function useHeight(element: RefObject<HTMLElement | null>): number {
  const [height, setHeight] = useState(600);
  useEffect(() => {
    const { current } = element;
    if (current === null) return undefined;
    const observer = new ResizeObserver(() => setHeight(current.clientHeight));
    observer.observe(current);
    return () => observer.disconnect();
  }, [element]);
  return height;
}
