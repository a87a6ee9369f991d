import type { JSX } from "preact";
import { useNow } from "../live/hooks.ts";
import type { AppState, Connection } from "../live/store.ts";
import { formatAgo, formatCountdown } from "../model/format.ts";

/** What must be known of everything else on the page: that it is old, that it is a standby's, that nothing is written. */
export function Banners({ state, tryNow }: { readonly state: AppState; readonly tryNow: () => void }): JSX.Element {
  const { overview, firstVersion } = state.stream;
  const { connection } = state;
  return (
    <section class="banners" aria-label="Notices">
      <div role="alert">
        {connection.kind === "lost" ? <Lost connection={connection} at={overview?.time} tryNow={tryNow} /> : null}
      </div>
      {overview === undefined ? null : <WhoAnswers overview={overview} />}
      {overview !== undefined && overview.replica.version !== firstVersion ? (
        <p class="banner note">
          The controller is version {overview.replica.version} now, and this page is of {firstVersion}.{" "}
          <button type="button" onClick={() => location.reload()}>
            Load it anew
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
      <strong>Connection lost:</strong> {connection.why}.{" "}
      {at === undefined ? "There is nothing to show yet. " : "What you see may be out of date. "}
      <Waiting sinceMs={connection.sinceMs} retryAtMs={connection.retryAtMs} />{" "}
      <button type="button" onClick={tryNow}>
        Try now
      </button>
    </p>
  );
}

/** Said once by the sentence around it; a number that changes each second must not be read out. */
function Waiting({ sinceMs, retryAtMs }: { readonly sinceMs: number; readonly retryAtMs: number }): JSX.Element {
  const nowMs = useNow();
  return (
    <span class="since" aria-hidden="true">
      Lost {formatAgo(nowMs - sinceMs)}; next try {formatCountdown(retryAtMs - nowMs)}.
    </span>
  );
}

type Overview = NonNullable<AppState["stream"]["overview"]>;

function WhoAnswers({ overview }: { readonly overview: Overview }): JSX.Element {
  const { replica, observing } = overview;
  return (
    <>
      <p class="who">
        Answered by <strong>{replica.identity}</strong>, version {replica.version},{" "}
        {replica.isLeader ? "which leads." : "which does not lead."}
      </p>
      {replica.isLeader ? null : (
        <p class="banner note">
          <strong>A standby answers.</strong> It knows all objects, but not what is done about them
          {replica.leaderIdentity === undefined ? "." : `: ${replica.leaderIdentity} leads, and knows.`}
        </p>
      )}
      {observing ? (
        <p class="banner note">
          <strong>Observing.</strong> At least one part of this controller plans and writes nothing.{" "}
          <code>cloudwire plan</code> lists what it would change.
        </p>
      ) : null}
    </>
  );
}
