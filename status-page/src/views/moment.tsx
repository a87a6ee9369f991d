import type { JSX } from "preact";
import { useNow } from "../live/hooks.ts";
import { formatAgo, formatCountdown } from "../model/format.ts";

interface MomentProps {
  readonly at: string;
  readonly clockAheadMs: number;
}

/** How long ago it was, by the controller's clock; the time itself is the title. */
export function Moment({ at, clockAheadMs }: MomentProps): JSX.Element {
  const nowMs = useNow();
  const ageMs = nowMs + clockAheadMs - Date.parse(at);
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {Number.isNaN(ageMs) ? at : formatAgo(ageMs)}
    </time>
  );
}

/** What is left of a wait that was so long when it was told. */
export function Countdown({ inMs, toldMs }: { readonly inMs: number; readonly toldMs: number }): JSX.Element {
  const nowMs = useNow();
  return <span class="countdown">{formatCountdown(toldMs + inMs - nowMs)}</span>;
}
