import { type Alarm, OBJECT_KINDS, type Overview, type State, STATES } from "@cloudwire/operator-api";
import type { JSX } from "preact";
import type { AppState } from "../live/store.ts";
import { formatNumber } from "../model/format.ts";
import { KIND_WORDS, parseRef } from "../model/object-name.ts";
import { formatPlace, wholeList } from "../model/place.ts";
import { totalOf } from "../model/selection.ts";
import { ProvidersPanel } from "./providers-panel.tsx";
import { CallRatePlots } from "./calls-view.tsx";
import { Panel, WideTable } from "./panel.tsx";
import { Prose } from "./prose.tsx";
import { StateMark } from "./state-mark.tsx";

export function OverviewView({ state }: { readonly state: AppState }): JSX.Element {
  const { overview } = state.stream;
  return (
    <>
      <h1 tabIndex={-1}>Overview</h1>
      {overview === undefined ? (
        <p class="empty">{state.connection.kind === "lost" ? "No data yet." : "Loading …"}</p>
      ) : (
        <>
          <Alarms alarms={overview.alarms} />
          <Counts overview={overview} />
          <ProvidersPanel overview={overview} />
          <CallRatePlots stream={state.stream} />
        </>
      )}
    </>
  );
}

function Alarms({ alarms }: { readonly alarms: readonly Alarm[] }): JSX.Element {
  return (
    <Panel id="alarms" title="Alarms" class={alarms.length === 0 ? "calm" : "alarms"}>
      {alarms.length === 0 ? (
        <p>No alarms.</p>
      ) : (
        <ul class="causes">
          {alarms.map((alarm, index) => (
            <li key={index}>
              <p>
                <span class="reason">{alarm.reason}</span> <Prose text={alarm.message} />
              </p>
              {alarm.remedy === undefined ? null : (
                <p class="remedy">
                  <strong>What to do:</strong> <Prose text={alarm.remedy} />
                </p>
              )}
              <p class="more">
                <AlarmObject alarm={alarm} />
                {alarm.documentation === undefined ? null : <code>{alarm.documentation}</code>}
              </p>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function AlarmObject({ alarm }: { readonly alarm: Alarm }): JSX.Element | null {
  const object = alarm.object === undefined ? undefined : parseRef(alarm.object);
  if (object === undefined) return null;
  return (
    <a href={formatPlace({ view: "object", object })}>
      {KIND_WORDS[object.kind].one} {object.name}
    </a>
  );
}

/** Each number links to its list. */
function Counts({ overview }: { readonly overview: Overview }): JSX.Element {
  return (
    <Panel id="counts" title="Objects by state">
      <WideTable label="Objects by state">
        <thead>
          <tr>
            <th scope="col">Kind</th>
            {STATES.map((state) => (
              <th key={state} scope="col" class="number">
                <StateMark state={state} />
              </th>
            ))}
            <th scope="col" class="number">
              all
            </th>
          </tr>
        </thead>
        <tbody>
          {OBJECT_KINDS.map((kind) => (
            <tr key={kind}>
              <th scope="row">
                <a href={formatPlace(wholeList(kind))}>{KIND_WORDS[kind].many}</a>
                <Bar counts={overview.counts[kind]} />
              </th>
              {STATES.map((state) => (
                <td key={state} class="number">
                  <CountLink kind={kind} state={state} count={overview.counts[kind][state]} />
                </td>
              ))}
              <td class="number">{formatNumber(totalOf(overview.counts[kind]))}</td>
            </tr>
          ))}
        </tbody>
      </WideTable>
    </Panel>
  );
}

interface CountLinkProps {
  readonly kind: (typeof OBJECT_KINDS)[number];
  readonly state: State;
  readonly count: number;
}

function CountLink({ kind, state, count }: CountLinkProps): JSX.Element {
  if (count === 0) return <span class="none">0</span>;
  return (
    <a href={formatPlace(wholeList(kind, state))} aria-label={`${count} ${KIND_WORDS[kind].many}, ${state}`}>
      {formatNumber(count)}
    </a>
  );
}

/** The counts as a stacked bar. */
function Bar({ counts }: { readonly counts: Readonly<Record<State, number>> }): JSX.Element {
  const total = Math.max(1, totalOf(counts));
  let from = 0;
  return (
    <svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      {STATES.map((state) => {
        const width = (counts[state] / total) * 100;
        const x = from;
        from += width;
        return width === 0 ? null : <rect key={state} class={state} x={x} y="0" width={width} height="4" />;
      })}
    </svg>
  );
}
