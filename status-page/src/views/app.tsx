import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { usePlace, useStore } from "../live/hooks.ts";
import type { AppState, Store } from "../live/store.ts";
import { KIND_WORDS } from "../model/object-name.ts";
import type { Place } from "../model/place.ts";
import { Banners } from "./banners.tsx";
import { CallsView } from "./calls-view.tsx";
import { ControllersView } from "./controllers-view.tsx";
import { Guarded } from "./guarded.tsx";
import { Header } from "./header.tsx";
import { ListView } from "./objects/list-view.tsx";
import { ObjectView } from "./objects/object-view.tsx";
import { OverviewView } from "./overview-view.tsx";
import { focusSearch, isTyping } from "./search-field.tsx";

export function App({ store }: { readonly store: Store }): JSX.Element {
  const state = useStore(store);
  const place = usePlace();
  const titled = titleOf(place);
  useEffect(() => {
    document.title = titled === "" ? "Cloudwire" : `${titled} · Cloudwire`;
  }, [titled]);
  useSearchKey();
  useFocusOnArrival(titled);
  return (
    <>
      <a class="skip" href="#main" onClick={skipToMain}>
        Skip to content
      </a>
      <Header state={state} place={place} />
      <Banners state={state} tryNow={() => store.retryNow()} />
      <main id="main" tabIndex={-1} class={isStale(state) ? "stale" : ""}>
        <Guarded key={titled}>
          <View state={state} place={place} />
        </Guarded>
      </main>
    </>
  );
}

/** Whether the page shows old data. */
function isStale({ connection, stream }: AppState): boolean {
  return connection.kind === "lost" || (connection.kind === "connecting" && stream.isComplete);
}

function View({ state, place }: { readonly state: AppState; readonly place: Place }): JSX.Element {
  switch (place.view) {
    case "overview":
      return <OverviewView state={state} />;
    case "list":
      return <ListView key={place.selection.kind} state={state} selection={place.selection} />;
    case "object":
      return <ObjectView key={`${place.object.kind}/${place.object.name}`} state={state} object={place.object} />;
    case "calls":
      return <CallsView stream={state.stream} />;
    case "controllers":
      return <ControllersView stream={state.stream} />;
    case "unknown":
      return (
        <>
          <h1 tabIndex={-1}>Page not found</h1>
          <p>
            No page exists at “{place.path}”. <a href="#/">Go to the overview</a>
          </p>
        </>
      );
    default:
      return place satisfies never;
  }
}

function titleOf(place: Place): string {
  switch (place.view) {
    case "overview":
      return "";
    case "list":
      return place.selection.kind === "all" ? "Search" : KIND_WORDS[place.selection.kind].many;
    case "object":
      return `${KIND_WORDS[place.object.kind].one} ${place.object.name}`;
    case "calls":
      return "Calls";
    case "controllers":
      return "Controllers";
    case "unknown":
      return "Not found";
    default:
      return place satisfies never;
  }
}

/** The fragment is the route, so this link must not change it. */
function skipToMain(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

/** `/` focuses the search, except while typing in a field. */
function useSearchKey(): void {
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      event.preventDefault();
      focusSearch();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}

/** Moves the focus to the new view for keyboard and screen reader users; not on the first view, and not while typing. */
function useFocusOnArrival(title: string): void {
  const isFirst = useRef(true);
  useEffect(() => {
    if (isFirst.current) {
      isFirst.current = false;
      return;
    }
    if (isTyping(document.activeElement)) return;
    const target =
      document.querySelector<HTMLElement>("main [data-arrival]") ?? document.querySelector<HTMLElement>("main h1");
    target?.focus({ preventScroll: true });
    if (target?.matches("h1") === true) scrollTo(0, 0);
  }, [title]);
}
