import type { Cause, ControllerStatus, Fact, QueuePosition, State, DesiredItem } from "@cloudwire/operator-api";
import type { ComponentChildren, JSX } from "preact";
import { remedyOf } from "../../model/causes.ts";
import { formatDuration, formatWord } from "../../model/format.ts";
import { Countdown, Moment } from "../moment.tsx";
import { Panel, WideTable } from "../panel.tsx";
import { Prose } from "../prose.tsx";

interface CausesProps {
  readonly causes: readonly Cause[];
  readonly state: State;
  /** The next retry. */
  readonly children: ComponentChildren;
}

/** Red: needs manual intervention. */
const TONES: Readonly<Record<State, string>> = {
  ok: "",
  progressing: "",
  waiting: "notes",
  blocked: "alarms",
  unmanaged: "",
};

export function CausesPanel({ causes, state, children }: CausesProps): JSX.Element {
  return (
    <Panel id="causes" title="Causes" class={causes.length === 0 ? "" : TONES[state]}>
      {causes.length === 0 ? <p>No problems.</p> : null}
      <ul class="causes">
        {causes.map((cause, index) => (
          <li key={index}>
            <p>
              <span class="reason">{cause.reason}</span> <Prose text={cause.message} />
            </p>
            <p class="remedy">
              <strong>What to do:</strong> <Prose text={remedyOf(cause, state)} />
            </p>
            {cause.documentation === undefined ? null : (
              <p class="more">
                <code>{cause.documentation}</code>
              </p>
            )}
          </li>
        ))}
      </ul>
      {children}
    </Panel>
  );
}

export function DesiredStatePanel({ items }: { readonly items: readonly DesiredItem[] }): JSX.Element {
  return (
    <Panel id="desired" title="Desired state">
      {items.length === 0 ? <p>Nothing requested.</p> : null}
      <ul class="desired">
        {items.map(({ description, state, message }) => (
          <li key={description}>
            <span class={`desired-item ${state}`}>{state}</span> {description}
            {message === undefined ? null : <small>{message}</small>}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

export function FactsPanel({ facts }: { readonly facts: readonly Fact[] }): JSX.Element {
  return (
    <Panel id="facts" title="Details">
      {facts.length === 0 ? <p>None.</p> : null}
      <dl>
        {facts.map(({ name, value }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

interface ControllersProps {
  readonly controllers: readonly ControllerStatus[];
  readonly receivedMs: number;
  readonly clockAheadMs: number;
}

export function ControllersPanel({ controllers, receivedMs, clockAheadMs }: ControllersProps): JSX.Element {
  return (
    <Panel id="controllers" title="Controllers">
      <WideTable label="Controllers">
        <thead>
          <tr>
            <th scope="col">Controller</th>
            <th scope="col">Queue</th>
            <th scope="col" class="number">
              Failures
            </th>
            <th scope="col">Last reconcile</th>
          </tr>
        </thead>
        <tbody>
          {controllers.map((one) => (
            <tr key={`${one.controller} ${one.key}`}>
              <th scope="row">
                {one.controller}
                <small>key {one.key}</small>
              </th>
              <td>
                <Queue queue={one.queue} receivedMs={receivedMs} />
              </td>
              <td class={`number${one.failures > 0 ? " bad" : ""}`}>{one.failures}</td>
              <td>
                <LastReconcile last={one.last} clockAheadMs={clockAheadMs} />
              </td>
            </tr>
          ))}
        </tbody>
      </WideTable>
    </Panel>
  );
}

function Queue({ queue, receivedMs }: { readonly queue: QueuePosition; readonly receivedMs: number }): JSX.Element {
  switch (queue.kind) {
    case "idle":
      return <>idle</>;
    case "queued":
      return (
        <>
          queued, {queue.priority} priority
          {queue.ahead === undefined ? "" : `, at most ${queue.ahead} ahead`}
        </>
      );
    case "delayed":
      return (
        <>
          delayed, due <Countdown inMs={queue.inMs} receivedMs={receivedMs} />
        </>
      );
    case "processing":
      return <>processing for {formatDuration(queue.processingMs)}</>;
    case "notRunning":
      return <>not running here: {queue.message}</>;
    default:
      return queue satisfies never;
  }
}

interface LastReconcileProps {
  readonly last: ControllerStatus["last"];
  readonly clockAheadMs: number;
}

function LastReconcile({ last, clockAheadMs }: LastReconcileProps): JSX.Element {
  if (last === undefined) return <>no previous reconcile</>;
  const { outcome, endTime, durationMs, reconcileID, error } = last;
  return (
    <>
      {formatWord(outcome)}, <Moment at={endTime} clockAheadMs={clockAheadMs} />, took {formatDuration(durationMs)}
      {error === undefined ? null : (
        <small class="bad">
          {error.code === undefined ? "" : `${error.code}: `}
          {error.message}
        </small>
      )}
      <small>
        reconcileID <code>{reconcileID}</code>
      </small>
    </>
  );
}
