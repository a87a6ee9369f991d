import type { State } from "@cloudwire/operator-api";
import type { JSX } from "preact";

/** A shape for each state, so that color is not the only difference. */
const SHAPES: Readonly<Record<State, string>> = {
  ok: "M3 8.5l3.2 3.2L13 4.8",
  progressing: "M8 2.5a5.5 5.5 0 1 1-5.5 5.5",
  waiting: "M8 4v4l2.6 1.8M8 1.8a6.2 6.2 0 1 0 .01 0",
  blocked: "M4 4l8 8M12 4l-8 8",
  unmanaged: "M3.5 8h9",
};

export function StateMark({ state }: { readonly state: State }): JSX.Element {
  return (
    <span class={`state ${state}`}>
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        <path
          d={SHAPES[state] ?? ""}
          fill="none"
          stroke="currentColor"
          stroke-width="2"
          stroke-linecap="round"
          stroke-linejoin="round"
        />
      </svg>
      {state}
    </span>
  );
}
