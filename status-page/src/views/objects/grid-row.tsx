import type { JSX } from "preact";
import type { Entry } from "../../model/entries.ts";
import { formatAgo } from "../../model/format.ts";
import { KIND_WORDS } from "../../model/object-name.ts";
import { formatPlace } from "../../model/place.ts";
import { StateMark } from "../state-mark.tsx";

export function GridHead(): JSX.Element {
  return (
    <div class="grid-head" role="rowgroup">
      <div class="grid-row head" role="row" aria-rowindex={1}>
        {["State", "Name", "Summary", "Provider", "Created"].map((text) => (
          <span key={text} role="columnheader">
            {text}
          </span>
        ))}
      </div>
    </div>
  );
}

interface GridRowProps {
  readonly id: string;
  readonly entry: Entry;
  readonly index: number;
  /** Pixels from the first row's top. */
  readonly top: number;
  readonly isActive: boolean;
  readonly clockAheadMs: number;
  readonly showsKind: boolean;
  readonly open: () => void;
}

export function GridRow({ id, entry, index, top, isActive, ...rest }: GridRowProps): JSX.Element {
  const { row, kind, name } = entry;
  const onClick = (event: MouseEvent): void => {
    // The link itself opens a new tab.
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    rest.open();
  };
  return (
    <div
      id={id}
      class={`grid-row${isActive ? " active" : ""}`}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isActive}
      style={{ transform: `translateY(${top}px)` }}
      onClick={onClick}
    >
      <span role="gridcell" class="cell-state">
        <StateMark state={row.state} />
      </span>
      <span role="gridcell" class="cell-name" title={name}>
        {rest.showsKind ? <span class="kind">{KIND_WORDS[kind].one}</span> : null}
        <a href={formatPlace({ view: "object", object: { kind, name } })} tabIndex={-1}>
          {name}
        </a>
      </span>
      <span role="gridcell" class="cell-summary" title={row.summary}>
        {row.reason === undefined ? null : <span class="reason">{row.reason}</span>}
        {row.summary}
      </span>
      <span role="gridcell" class="cell-provider" title={row.provider}>
        {row.provider}
      </span>
      <span role="gridcell" class="cell-age">
        {row.creationTime === undefined ? "" : formatAgo(Date.now() + rest.clockAheadMs - Date.parse(row.creationTime))}
      </span>
    </div>
  );
}
