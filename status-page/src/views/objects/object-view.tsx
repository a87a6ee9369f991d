import type { Explanation } from "@cloudwire/operator-api";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { type Explained, useExplanation } from "../../live/hooks.ts";
import type { AppState } from "../../live/store.ts";
import { formatRef, KIND_WORDS, type ObjectName } from "../../model/object-name.ts";
import { formatPlace, wholeList } from "../../model/place.ts";
import { CallsPanel, ProviderPanel, TimelinePanel } from "./object-history.tsx";
import { CausesPanel, FactsPanel, DesiredStatePanel, ControllersPanel } from "./object-status.tsx";
import { isTyping } from "../search-field.tsx";
import { StateMark } from "../state-mark.tsx";
import { Countdown, Moment } from "../moment.tsx";

interface ObjectViewProps {
  readonly state: AppState;
  readonly object: ObjectName;
}

/** The explanation of one object, refreshed when its row changes. */
export function ObjectView({ state, object }: ObjectViewProps): JSX.Element {
  const ref = formatRef(object);
  const row = state.stream.entries.get(ref)?.row;
  const explained = useExplanation(ref, row);
  useEscape(formatPlace(wholeList(object.kind)));
  const { explanation } = explained;
  const known = explanation ?? row;
  return (
    <article class="object">
      <p class="crumbs">
        <a href={formatPlace(wholeList(object.kind))}>{KIND_WORDS[object.kind].many}</a> /
      </p>
      <h1 tabIndex={-1}>
        {object.name} {known === undefined || explanation?.exists === false ? null : <StateMark state={known.state} />}
      </h1>
      <p class="summary">{known?.summary ?? ""}</p>
      <Freshness explained={explained} clockAheadMs={state.clockAheadMs} />
      {explanation === undefined ? null : (
        <Parts explanation={explanation} receivedMs={explained.receivedMs} clockAheadMs={state.clockAheadMs} />
      )}
    </article>
  );
}

function Freshness({
  explained,
  clockAheadMs,
}: {
  readonly explained: Explained;
  readonly clockAheadMs: number;
}): JSX.Element {
  const { explanation, problem } = explained;
  return (
    <>
      {problem === undefined ? null : (
        <p class="banner lost" role="alert">
          <strong>Could not load:</strong> {problem}.{explanation === undefined ? "" : " Showing the last known data."}
        </p>
      )}
      {explanation === undefined && problem === undefined ? <p class="empty">Loading …</p> : null}
      {explanation?.exists === false ? <p class="banner note">This object does not exist in the cluster.</p> : null}
      {explanation === undefined ? null : (
        <p class="who">
          Reported by {explanation.replica.identity} ({explanation.replica.isLeader ? "leader" : "standby"}),{" "}
          <Moment at={explanation.time} clockAheadMs={clockAheadMs} />
        </p>
      )}
    </>
  );
}

interface PartsProps {
  readonly explanation: Explanation;
  readonly receivedMs: number;
  readonly clockAheadMs: number;
}

function Parts({ explanation, receivedMs, clockAheadMs }: PartsProps): JSX.Element {
  const { causes, state, nextRetry, desired, facts, controllers, provider, calls, timeline } = explanation;
  return (
    <>
      <CausesPanel causes={causes} state={state}>
        {nextRetry === undefined ? null : (
          <p class="next-retry">
            <strong>Next retry</strong> <Countdown inMs={nextRetry.inMs} receivedMs={receivedMs} />{" "}
            <span>({nextRetry.message})</span>
          </p>
        )}
      </CausesPanel>
      <div class="columns">
        <DesiredStatePanel items={desired} />
        <FactsPanel facts={facts} />
      </div>
      <ControllersPanel controllers={controllers} receivedMs={receivedMs} clockAheadMs={clockAheadMs} />
      {provider === undefined ? null : <ProviderPanel provider={provider} />}
      <CallsPanel calls={calls} clockAheadMs={clockAheadMs} />
      <TimelinePanel timeline={timeline} clockAheadMs={clockAheadMs} />
    </>
  );
}

/** Escape opens the list of the object. */
function useEscape(list: string): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== "Escape" || event.defaultPrevented || isTyping(event.target)) return;
      event.preventDefault();
      if (cameFromWithin()) history.back();
      else location.hash = list;
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [list]);
}

/** Whether the history has a previous view of this page. */
function cameFromWithin(): boolean {
  return typeof navigation !== "undefined" && navigation.canGoBack;
}
