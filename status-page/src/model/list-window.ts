/** Rows of a list of which the first is 0; `end` is past the last. */
export interface ListWindow {
  readonly start: number;
  readonly end: number;
}

/** Which rows are drawn: those in sight, and some beyond them for the next frames of a scroll. */
export function windowOf(
  scrollTop: number,
  viewHeight: number,
  rowHeight: number,
  count: number,
  beyond: number,
): ListWindow {
  const first = Math.floor(Math.max(0, scrollTop) / rowHeight);
  const seen = Math.ceil(viewHeight / rowHeight) + 1;
  const start = Math.max(0, Math.min(first, count - seen) - beyond);
  return { start, end: Math.min(count, start + seen + 2 * beyond) };
}

/** The first row that is in sight whole; -1: there is none. */
export function firstInSight(scrollTop: number, rowHeight: number, count: number): number {
  return Math.min(count - 1, Math.ceil(Math.max(0, scrollTop) / rowHeight));
}

/** Where to scroll so that the row is in sight whole, no further than needed. */
export function scrollToShow(index: number, scrollTop: number, viewHeight: number, rowHeight: number): number {
  const top = index * rowHeight;
  if (top < scrollTop) return top;
  if (top + rowHeight > scrollTop + viewHeight) return top + rowHeight - viewHeight;
  return scrollTop;
}

/** Position in a list. */
export interface ListPosition {
  /** Of the active row; -1: none is. */
  readonly active: number;
  /** Of the first row in sight. */
  readonly first: number;
  readonly count: number;
  /** Rows of a page. */
  readonly page: number;
}

/** Where a key leads in a list: where no row is active, first to one that is in sight. undefined: it is no key of lists. */
export function moveInList(key: string, { active, first, count, page }: ListPosition): number | undefined {
  const last = count - 1;
  const moved = stepInList(key, active, last, page);
  return active < 0 && moved !== undefined && key !== "Home" && key !== "End" ? first : moved;
}

function stepInList(key: string, index: number, last: number, page: number): number | undefined {
  switch (key) {
    case "ArrowDown":
      return Math.min(last, index + 1);
    case "ArrowUp":
      return Math.max(0, index - 1);
    case "PageDown":
      return Math.min(last, index + page);
    case "PageUp":
      return Math.max(0, index - page);
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return undefined;
  }
}
