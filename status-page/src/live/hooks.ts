import type { Explanation, ObjectRef } from "@cloudwire/operator-api";
import { useEffect, useState } from "preact/hooks";
import { type Place, parsePlace } from "../model/place.ts";
import { fetchExplanation } from "./endpoints.ts";
import type { AppState, Store } from "./store.ts";

export function useStore(store: Store): AppState {
  const [state, setState] = useState(store.state);
  useEffect(() => {
    const update = (): void => setState(store.state);
    // Updates between the first render and this effect had no listener.
    update();
    return store.subscribe(update);
  }, [store]);
  return state;
}

export function usePlace(): Place {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const update = (): void => setHash(location.hash);
    addEventListener("hashchange", update);
    addEventListener(PLACE_CHANGED, update);
    return () => {
      removeEventListener("hashchange", update);
      removeEventListener(PLACE_CHANGED, update);
    };
  }, []);
  return parsePlace(hash);
}

const PLACE_CHANGED = "cloudwire-place";

/** Navigates immediately: the event for `location.hash` may come after the next letter of a search. */
export function pushHash(hash: string): void {
  history.pushState(null, "", hash);
  dispatchEvent(new Event(PLACE_CHANGED));
}

/** Goes there without a step that `back` would return to: for each letter of a search. */
export function replaceHash(hash: string): void {
  history.replaceState(history.state, "", hash);
  dispatchEvent(new Event(PLACE_CHANGED));
}

/** The current time, updated each second. */
export function useNow(): number {
  const [nowMs, setNowMs] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}

/** Whether a media query holds. */
export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const update = (): void => setMatches(list.matches);
    list.addEventListener("change", update);
    return () => list.removeEventListener("change", update);
  }, [query]);
  return matches;
}

export interface Explained {
  readonly explanation: Explanation | undefined;
  /** When it came, by this machine's clock. */
  readonly receivedMs: number;
  /** Why the last try brought nothing. */
  readonly problem: string | undefined;
}

/** Refresh interval; a change of the object's row refreshes immediately. An explanation costs the controller a few milliseconds. */
const EXPLAIN_EVERY_MS = 5_000;

/** A browser has few connections per host; requests without a response must not occupy them. */
const ASK_FOR_MS = 10_000;

const NOT_YET: Explained = { explanation: undefined, receivedMs: 0, problem: undefined };

/** @param change anything that is another when there is reason to ask again */
export function useExplanation(object: ObjectRef, change: unknown): Explained {
  const [explained, setExplained] = useState<Explained & { readonly object: ObjectRef }>({ ...NOT_YET, object });
  useEffect(() => {
    const stop = new AbortController();
    let isAsking = false;
    const ask = async (): Promise<void> => {
      if (document.hidden || isAsking) return;
      isAsking = true;
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), ASK_FOR_MS);
      try {
        const explanation = await fetchExplanation(object, AbortSignal.any([stop.signal, late.signal]));
        setExplained({ explanation, receivedMs: Date.now(), problem: undefined, object });
      } catch (error) {
        if (stop.signal.aborted) return;
        const problem = late.signal.aborted ? SILENT : problemOf(error);
        setExplained((before) => ({ ...(before.object === object ? before : NOT_YET), problem, object }));
      } finally {
        isAsking = false;
        clearTimeout(timer);
      }
    };
    const askNow = (): void => void ask();
    askNow();
    const timer = setInterval(askNow, EXPLAIN_EVERY_MS);
    document.addEventListener("visibilitychange", askNow);
    return () => {
      stop.abort();
      clearInterval(timer);
      document.removeEventListener("visibilitychange", askNow);
    };
  }, [object, change]);
  return explained.object === object ? explained : NOT_YET;
}

const SILENT = `the controller has not responded for ${ASK_FOR_MS / 1_000} s`;

function problemOf(error: unknown): string {
  if (error instanceof TypeError) return "the controller cannot be reached";
  return error instanceof Error ? error.message : String(error);
}
