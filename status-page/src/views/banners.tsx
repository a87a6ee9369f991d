import type { JSX } from "preact";
import { useNow } from "../live/hooks.ts";
import type { AppState, Connection } from "../live/store.ts";
import { formatAgo, formatCountdown } from "../model/format.ts";

/** Notices about the whole page: stale data, a standby, observe mode. */
export function Banners({ state, tryNow }: { readonly state: AppState; readonly tryNow: () => void }): JSX.Element {
  const { overview, firstVersion } = state.stream;
  const { connection } = state;
  return (
    <section class="banners" aria-label="Notices">
      <div role="alert">
        {connection.kind === "lost" ? <Lost connection={connection} at={overview?.time} tryNow={tryNow} /> : null}
      </div>
      {overview === undefined ? null : <ReplicaNotes overview={overview} />}
      {overview !== undefined && overview.replica.version !== firstVersion ? (
        <p class="banner note">
          The controller now has version {overview.replica.version}; this page has {firstVersion}.{" "}
          <button type="button" onClick={() => location.reload()}>
            Reload
          </button>
        </p>
      ) : null}
    </section>
  );
}

interface LostProps {
  readonly connection: Extract<Connection, { kind: "lost" }>;
  readonly at: string | undefined;
  readonly tryNow: () => void;
}

function Lost({ connection, at, tryNow }: LostProps): JSX.Element {
  return (
    <p class="banner lost">
      <strong>Connection lost:</strong> {connection.reason}.{" "}
      {at === undefined ? "No data yet. " : "The data may be out of date. "}
      <Waiting sinceMs={connection.sinceMs} retryAtMs={connection.retryAtMs} />{" "}
      <button type="button" onClick={tryNow}>
        Retry now
      </button>
    </p>
  );
}

/** Hidden from screen readers, which would read it out each second. */
function Waiting({ sinceMs, retryAtMs }: { readonly sinceMs: number; readonly retryAtMs: number }): JSX.Element {
  const nowMs = useNow();
  return (
    <span class="since" aria-hidden="true">
      Lost {formatAgo(nowMs - sinceMs)}; next retry {formatCountdown(retryAtMs - nowMs)}.
    </span>
  );
}

type Overview = NonNullable<AppState["stream"]["overview"]>;

function ReplicaNotes({ overview }: { readonly overview: Overview }): JSX.Element {
  const { replica, observing } = overview;
  return (
    <>
      <p class="who">
        Connected to <strong>{replica.identity}</strong> ({replica.isLeader ? "leader" : "standby"}), version{" "}
        {replica.version}.
      </p>
      {replica.isLeader ? null : (
        <p class="banner note">
          <strong>Connected to a standby.</strong> It has the objects, but not the reconcile state
          {replica.leaderIdentity === undefined ? "." : `; the leader is ${replica.leaderIdentity}.`}
        </p>
      )}
      {observing ? (
        <p class="banner note">
          <strong>Observe mode.</strong> At least one part of this controller only plans its writes.{" "}
          <code>cloudwire plan</code> lists the planned writes.
        </p>
      ) : null}
    </>
  );
}
