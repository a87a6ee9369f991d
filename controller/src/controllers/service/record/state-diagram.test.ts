import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { EVENTS, record, STATE_NAMES, STATES } from "../../../../test/support/service/record-builders.ts";
import type { ServiceRecord, State } from "./record.ts";
import { type RecordEvent, transition } from "./transition.ts";

const PAGE = new URL("../../../../../docs/explanation/load-balancers.md", import.meta.url);

type Kind = State["kind"] | "[*]";

const HOLDING = ["changing", "active", "deleting"] as const;
const FREE = ["foreign", "declined", "gone"] as const;

/** In which states each event happens. What happens in any of them without leading elsewhere has no place in a diagram. */
const HAPPENS: Readonly<Record<RecordEvent["kind"], readonly Kind[]>> = {
  serviceSeen: ["[*]"],
  serviceRestored: [],
  serviceDeleted: [],
  serviceAbsent: ["unknown", ...FREE],
  notOwned: ["unknown", "declined", "gone"],
  owned: ["foreign"],
  ownerChanged: HOLDING,
  read: ["unknown", "changing"],
  changeRequested: ["unknown", "declined", "active", "deleting", "gone"],
  changeAccepted: ["changing"],
  changeCompleted: ["changing"],
  changeFailed: ["changing"],
  notFound: ["changing"],
  changeRejected: ["changing"],
  changeDeclined: ["changing"],
  deleteRequested: ["unknown", "declined", "changing", "active", "gone"],
  deleteAccepted: ["deleting"],
  deleted: ["deleting"],
  retained: ["unknown", ...HOLDING],
  previousFound: HOLDING,
  previousCleared: HOLDING,
  suspected: ["active"],
  inspected: ["active"],
  repaired: ["changing"],
  driftSuperseded: ["changing"],
};

/** Lines of the diagram, by what the code does. */
function edges(): readonly string[] {
  const events = new Map<string, Set<string>>();
  for (const before of [undefined, ...STATE_NAMES.flatMap((name) => variants(STATES[name]))]) {
    for (const event of Object.values<RecordEvent>(EVENTS)) {
      const [from, to] = [kindOf(before), kindOf(transition(before, event).record)];
      if (from === to || !HAPPENS[event.kind].includes(from)) continue;
      const edge = `${from} --> ${to}`;
      events.set(edge, (events.get(edge) ?? new Set()).add(event.kind));
    }
  }
  return [...events].map(([edge, kinds]) => `${edge}: ${[...kinds].toSorted().join(", ")}`).toSorted();
}

/** Of a Service that is there, and of one that is gone. */
const variants = (state: State): readonly ServiceRecord[] => [record(state), record(state, { isDeleted: true })];

const kindOf = (of: ServiceRecord | undefined): Kind => of?.state.kind ?? "[*]";

test("the page on load balancers shows how a record goes from state to state", () => {
  const [, diagram = ""] = /```mermaid\nstateDiagram-v2\n([^`]*)```/.exec(readFileSync(PAGE, "utf8")) ?? [];
  const drawn = diagram.split("\n").map((line) => line.trim());
  expect(drawn.filter((line) => line.includes("-->")).toSorted()).toEqual(edges());
});
