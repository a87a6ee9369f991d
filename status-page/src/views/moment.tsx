import type { JSX } from "preact";
import { useNow } from "../live/hooks.ts";
import { formatAgo, formatCountdown } from "../model/format.ts";

interface MomentProps {
  readonly at: string;
  readonly clockAheadMs: number;
}

/** Age by the controller's clock; the title has the time. */
export function Moment({ at, clockAheadMs }: MomentProps): JSX.Element {
  const nowMs = useNow();
  const ageMs = nowMs + clockAheadMs - Date.parse(at);
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {Number.isNaN(ageMs) ? at : formatAgo(ageMs)}
    </time>
  );
}

/** Remaining time of a wait that took `inMs` at `receivedMs`. */
export function Countdown({ inMs, receivedMs }: { readonly inMs: number; readonly receivedMs: number }): JSX.Element {
  const nowMs = useNow();
  return <span class="countdown">{formatCountdown(receivedMs + inMs - nowMs)}</span>;
}
