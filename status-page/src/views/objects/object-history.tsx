import type { CallRecord, TimelineEntry, ProviderStatus } from "@cloudwire/operator-api";
import type { JSX } from "preact";
import { formatCount, formatDuration, formatTime, formatWord } from "../../model/format.ts";
import { formatPlace } from "../../model/place.ts";
import { Moment } from "../moment.tsx";
import { Panel, WideTable } from "../panel.tsx";

export function ProviderPanel({ provider }: { readonly provider: ProviderStatus }): JSX.Element {
  const { name, connection, ready, reasons, absenceIgnored, throttled } = provider;
  return (
    <Panel id="provider" title="Provider">
      <p>
        <a href={formatPlace({ view: "object", object: { kind: "provider", name } })}>{name}</a>{" "}
        <span class={ready ? "good" : "bad"}>
          {formatWord(connection)}
          {ready ? "" : ", not ready"}
        </span>
      </p>
      <ul class="plain">
        {reasons.map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
        {absenceIgnored === undefined ? null : <li>Absence reports are currently ignored: {absenceIgnored}</li>}
        {throttled.map(({ quotaClass, untilTime }) => (
          <li key={quotaClass}>
            Calls of quota class {quotaClass} are throttled until {formatTime(untilTime)}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

interface CallsProps {
  readonly calls: readonly CallRecord[];
  readonly clockAheadMs: number;
}

export function CallsPanel({ calls, clockAheadMs }: CallsProps): JSX.Element {
  return (
    <Panel id="calls" title="Recent provider calls">
      {calls.length === 0 ? (
        <p>None.</p>
      ) : (
        <WideTable label="Recent provider calls">
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col">Method</th>
              <th scope="col">Result</th>
              <th scope="col" class="number">
                Duration
              </th>
              <th scope="col">Cloud request IDs</th>
            </tr>
          </thead>
          <tbody>
            {calls.map((call, index) => (
              <CallLine key={index} call={call} clockAheadMs={clockAheadMs} />
            ))}
          </tbody>
        </WideTable>
      )}
    </Panel>
  );
}

function CallLine({ call, clockAheadMs }: { readonly call: CallRecord; readonly clockAheadMs: number }): JSX.Element {
  return (
    <tr>
      <td>
        <Moment at={call.time} clockAheadMs={clockAheadMs} />
      </td>
      <th scope="row">
        {call.method}
        <small>
          {call.provider === undefined ? "" : `to ${call.provider}`}
          {call.objectCount > 1 ? ` for ${formatCount(call.objectCount, "object")}` : ""}
        </small>
      </th>
      <td>
        <span class={call.code === "OK" ? "good" : "bad"}>
          {call.code}
          {call.reason === undefined ? "" : ` ${call.reason}`}
        </span>
        {call.message === undefined ? null : <small>{call.message}</small>}
      </td>
      <td class="number">{formatDuration(call.durationMs)}</td>
      <td>
        {call.cloudRequestIds.map((id) => (
          <code key={id} class="id">
            {id}
          </code>
        ))}
      </td>
    </tr>
  );
}

interface TimelineProps {
  readonly timeline: readonly TimelineEntry[];
  readonly clockAheadMs: number;
}

export function TimelinePanel({ timeline, clockAheadMs }: TimelineProps): JSX.Element {
  return (
    <Panel id="timeline" title="Timeline">
      {timeline.length === 0 ? <p>No history.</p> : null}
      <ol class="timeline">
        {timeline.map((one, index) => (
          <li key={index} class={one.isWarning ? "warning" : ""}>
            <span class="when">
              {formatTime(one.time)} · <Moment at={one.time} clockAheadMs={clockAheadMs} />
            </span>
            <span class="what">
              <span class="reason">{one.reason}</span> {one.message}
              <small>
                {one.isWarning ? "warning, " : ""}
                {one.kind}
                {one.source === undefined ? "" : ` from ${one.source}`}
                {one.count === undefined ? "" : `, ${formatCount(one.count, "time")} in a row`}
              </small>
            </span>
          </li>
        ))}
      </ol>
    </Panel>
  );
}
