import type { JSX } from "preact";
import { replaceHash } from "../live/hooks.ts";
import { formatPlace, type Place, wholeList } from "../model/place.ts";

const ID = "search";

/** Narrows the list in sight; elsewhere it opens one of everything that is found. */
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
        onInput={(event) => searchFor(place, event.currentTarget.value)}
        onKeyDown={(event) => onKey(event, place)}
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

/** Whether a key that is pressed there is a letter of a text. */
export function isTyping(target: unknown): boolean {
  return target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
}

function searchFor(place: Place, search: string): void {
  if (place.view === "list") replaceHash(formatPlace({ view: "list", selection: { ...place.selection, search } }));
  else location.hash = formatPlace({ ...wholeList("all"), view: "list", selection: { ...ALL, search } });
}

const ALL = { kind: "all", search: "", state: undefined, provider: undefined } as const;

/** Down and Enter lead into what was found; Escape takes the search back, and then leaves the field. */
function onKey(event: KeyboardEvent, place: Place): void {
  const list = document.querySelector<HTMLElement>("[role=grid]");
  if ((event.key === "ArrowDown" || event.key === "Enter") && list !== null) {
    event.preventDefault();
    list.focus();
  }
  if (event.key !== "Escape") return;
  event.preventDefault();
  if (place.view === "list" && place.selection.search !== "") searchFor(place, "");
  else if (list !== null) list.focus();
}
