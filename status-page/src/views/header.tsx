import { OBJECT_KINDS } from "@cloudwire/operator-api";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { AppState, Connection } from "../live/store.ts";
import { applyTheme, storedTheme, THEMES } from "../live/theme.ts";
import { formatCount, formatNumber } from "../model/format.ts";
import { KIND_WORDS } from "../model/object-name.ts";
import { formatPlace, type Place, wholeList } from "../model/place.ts";
import { totalOf } from "../model/selection.ts";
import { SearchField } from "./search-field.tsx";

export function Header({ state, place }: { readonly state: AppState; readonly place: Place }): JSX.Element {
  const { overview } = state.stream;
  return (
    <header class="masthead">
      <div class="bar">
        <a class="brand" href="#/">
          <img src="icon.svg" alt="" width="22" height="22" />
          Cloudwire
        </a>
        {overview === undefined ? null : <span class="cluster">{overview.cluster}</span>}
        <SearchField place={place} />
        <ConnectionMark connection={state.connection} />
        <ThemeSwitch />
      </div>
      <Navigation state={state} place={place} />
    </header>
  );
}

function Navigation({ state, place }: { readonly state: AppState; readonly place: Place }): JSX.Element {
  const counts = state.stream.overview?.counts;
  const current = currentTab(place);
  const list = useRef<HTMLUListElement>(null);
  // The counts, which arrive later, widen the tabs; in a narrow window not all fit.
  useEffect(
    () => list.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }),
    [current, counts === undefined],
  );
  const tab = (name: string, href: string, text: string, more?: JSX.Element): JSX.Element => (
    <li key={name}>
      <a href={href} aria-current={current === name ? "page" : undefined}>
        {text}
        {more}
      </a>
    </li>
  );
  return (
    <nav aria-label="Views">
      <ul ref={list}>
        {tab("overview", "#/", "Overview", <Alarms count={state.stream.overview?.alarms.length ?? 0} />)}
        {OBJECT_KINDS.map((kind) =>
          tab(
            kind,
            formatPlace(wholeList(kind)),
            KIND_WORDS[kind].many,
            counts === undefined ? undefined : <span class="count">{formatNumber(totalOf(counts[kind]))}</span>,
          ),
        )}
        {tab("calls", "#/calls", "Calls")}
        {tab("controllers", "#/controllers", "Controllers")}
      </ul>
    </nav>
  );
}

/** Shown on every view; screen readers announce changes. */
function Alarms({ count }: { readonly count: number }): JSX.Element {
  return (
    <span class="alarm-count" role="status">
      {count === 0 ? "" : formatCount(count, "alarm")}
    </span>
  );
}

function currentTab(place: Place): string {
  if (place.view === "list") return place.selection.kind;
  return place.view === "object" ? place.object.kind : place.view;
}

const CONNECTION_WORDS: Readonly<Record<Connection["kind"], string>> = {
  connecting: "Connecting",
  live: "Live",
  lost: "Connection lost",
};

function ConnectionMark({ connection }: { readonly connection: Connection }): JSX.Element {
  return (
    <span class={`connection ${connection.kind}`} role="status">
      <span class="dot" aria-hidden="true" />
      {CONNECTION_WORDS[connection.kind]}
    </span>
  );
}

function ThemeSwitch(): JSX.Element {
  const [theme, setTheme] = useState(storedTheme);
  return (
    <label class="theme">
      <span class="hidden">Theme</span>
      <select
        value={theme}
        onChange={(event) => {
          const chosen = THEMES.find((known) => known === event.currentTarget.value) ?? "auto";
          applyTheme(chosen);
          setTheme(chosen);
        }}
      >
        <option value="auto">Theme: system</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}
