import { type State, STATES } from "@cloudwire/operator-api";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { replaceHash } from "../../live/hooks.ts";
import type { AppState } from "../../live/store.ts";
import { formatCount, formatNumber } from "../../model/format.ts";
import { KIND_WORDS } from "../../model/object-name.ts";
import { formatPlace } from "../../model/place.ts";
import { isState, providersOf, selectEntries, type Selection } from "../../model/selection.ts";
import { ObjectGrid } from "./object-grid.tsx";

interface ListViewProps {
  readonly state: AppState;
  readonly selection: Selection;
}

export function ListView({ state, selection }: ListViewProps): JSX.Element {
  const { entries, isComplete } = state.stream;
  const { kind, search, state: wanted, provider } = selection;
  const found = useMemo(() => selectEntries(entries, selection), [entries, kind, search, wanted, provider]);
  const words = kind === "all" ? { one: "object", many: "objects" } : KIND_WORDS[kind];
  const isNarrowed = search !== "" || wanted !== undefined || provider !== undefined;
  return (
    <div class="list-view">
      <div class="toolbar">
        <h1 tabIndex={-1}>{kind === "all" ? "Search" : words.many}</h1>
        <Filters state={state} selection={selection} />
        <p class="found" role="status">
          {formatCount(found.length, words.one, words.many)}
          {isNarrowed ? " found" : ""}
          {isComplete ? "" : "; loading more"}
        </p>
      </div>
      <ObjectGrid
        id={kind}
        choice={formatPlace({ view: "list", selection })}
        entries={found}
        label={kind === "all" ? "Search results" : words.many}
        clockAheadMs={state.clockAheadMs}
        showsKind={kind === "all"}
        empty={emptyText(isComplete, isNarrowed, words.many)}
      />
    </div>
  );
}

function emptyText(isComplete: boolean, isNarrowed: boolean, many: string): string {
  if (!isComplete) return "Loading …";
  return isNarrowed ? `No ${many} match the search and filters.` : `There are no ${many}.`;
}

function Filters({ state, selection }: ListViewProps): JSX.Element {
  const { entries, overview } = state.stream;
  const { kind, state: wanted, provider } = selection;
  const providers = useMemo(() => providersOf(entries, kind), [entries, kind]);
  const go = (change: Partial<Selection>): void =>
    replaceHash(formatPlace({ view: "list", selection: { ...selection, ...change } }));
  const countOf = (each: State): string =>
    overview === undefined || kind === "all" ? "" : ` (${formatNumber(overview.counts[kind][each])})`;
  return (
    <>
      <label>
        State{" "}
        <select
          value={wanted ?? ""}
          onChange={({ currentTarget: { value } }) => go({ state: isState(value) ? value : undefined })}
        >
          <option value="">any</option>
          {STATES.map((each) => (
            <option key={each} value={each}>
              {each}
              {countOf(each)}
            </option>
          ))}
        </select>
      </label>
      <label>
        Provider{" "}
        <select
          value={provider === undefined ? ANY : `=${provider}`}
          onChange={({ currentTarget: { value } }) => go({ provider: value === ANY ? undefined : value.slice(1) })}
        >
          <option value={ANY}>any</option>
          {[...new Set([...providers, ...(provider === undefined ? [] : [provider])])].map((name) => (
            <option key={name} value={`=${name}`}>
              {name === "" ? "none" : name}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}

/** Not a provider: names have the prefix "=", because "" is valid too. */
const ANY = "any";
