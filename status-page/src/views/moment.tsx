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

/** Remaining time of a wait that took `inMs` at `toldMs`. */
export function Countdown({ inMs, toldMs }: { readonly inMs: number; readonly toldMs: number }): JSX.Element {
  const nowMs = useNow();
  return <span class="countdown">{formatCountdown(toldMs + inMs - nowMs)}</span>;
}
