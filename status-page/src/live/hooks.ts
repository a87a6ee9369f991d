import { type Explanation, type ObjectRef } from "@cloudwire/operator-api";
import { useEffect, useState } from "preact/hooks";
import { type Place, parsePlace } from "../model/place.ts";
import { fetchExplanation } from "./endpoints.ts";
import type { AppState, Store } from "./store.ts";

export function useStore(store: Store): AppState {
  const [state, setState] = useState(store.state);
  useEffect(() => store.subscribe(() => setState(store.state)), [store]);
  return state;
}

export function usePlace(): Place {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const update = (): void => setHash(location.hash);
    addEventListener("hashchange", update);
    addEventListener(PLACE_REPLACED, update);
    return () => {
      removeEventListener("hashchange", update);
      removeEventListener(PLACE_REPLACED, update);
    };
  }, []);
  return parsePlace(hash);
}

const PLACE_REPLACED = "cloudwire-place";

/** Goes there without a step that `back` would return to: for each letter of a search. */
export function replaceHash(hash: string): void {
  history.replaceState(history.state, "", hash);
  dispatchEvent(new Event(PLACE_REPLACED));
}

/** The time of this machine, anew each second. */
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

/** An explanation costs the controller some milliseconds: often enough for somebody who waits, and at once when the object's row changes. */
const EXPLAIN_EVERY_MS = 5_000;

const NOT_YET: Explained = { explanation: undefined, receivedMs: 0, problem: undefined };

/** @param change anything that is another when there is reason to ask again */
export function useExplanation(object: ObjectRef, change: unknown): Explained {
  const [explained, setExplained] = useState<Explained & { readonly object: ObjectRef }>({ ...NOT_YET, object });
  useEffect(() => {
    const stop = new AbortController();
    const ask = async (): Promise<void> => {
      if (document.hidden) return;
      try {
        const explanation = await fetchExplanation(object, stop.signal);
        setExplained({ explanation, receivedMs: Date.now(), problem: undefined, object });
      } catch (error) {
        if (stop.signal.aborted) return;
        const problem = error instanceof TypeError ? "the controller cannot be reached" : messageOf(error);
        setExplained((before) => ({ ...(before.object === object ? before : NOT_YET), problem, object }));
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
