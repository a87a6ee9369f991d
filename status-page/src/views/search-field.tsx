import type { JSX } from "preact";
import { pushHash, replaceHash } from "../live/hooks.ts";
import { formatPlace, parsePlace, type Place } from "../model/place.ts";

const ID = "search";

/** Filters the current list; on other views it opens a list of all matches. */
export function SearchField({ place }: { readonly place: Place }): JSX.Element {
  const search = place.view === "list" ? place.selection.search : "";
  return (
    <search class="search">
      <label for={ID} class="hidden">
        Search
      </label>
      <input
        id={ID}
        type="search"
        placeholder="Search  ( / )"
        autocomplete="off"
        spellcheck={false}
        value={search}
        aria-keyshortcuts="/"
        onInput={(event) => searchFor(event.currentTarget.value)}
        onKeyDown={(event) => onKey(event, search)}
      />
    </search>
  );
}

export function focusSearch(): void {
  const field = document.getElementById(ID);
  if (!(field instanceof HTMLInputElement)) return;
  field.focus();
  field.select();
}

/** Whether the target is a form field. */
export function isTyping(target: unknown): boolean {
  return target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
}

/** All letters make one history entry. Reads the address, because the page may not be rendered since the previous letter. */
function searchFor(search: string): void {
  const place = parsePlace(location.hash);
  if (place.view === "list") replaceHash(formatPlace({ view: "list", selection: { ...place.selection, search } }));
  else pushHash(formatPlace({ view: "list", selection: { ...ALL, search } }));
}

const ALL = { kind: "all", search: "", state: undefined, provider: undefined } as const;

/** Down and Enter focus the results. Escape clears the search, then leaves the field. */
function onKey(event: KeyboardEvent, search: string): void {
  const list = document.querySelector<HTMLElement>("[role=grid]");
  if ((event.key === "ArrowDown" || event.key === "Enter") && list !== null) {
    event.preventDefault();
    list.focus();
  }
  if (event.key !== "Escape") return;
  event.preventDefault();
  if (search !== "") searchFor("");
  else if (list !== null) list.focus();
}
