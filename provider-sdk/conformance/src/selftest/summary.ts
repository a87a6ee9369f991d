import { type FaultOutcome, outcomeLines } from "./fault-outcome.ts";
import { baselineLines } from "./negative-baselines.ts";
import type { SelftestEvent } from "./selftest.ts";

/** What a selftest has come to so far. */
export class SelftestTally {
  readonly faults: FaultOutcome[] = [];
  planned = 0;
  done = 0;
  baselinesPassed = 0;
  /** What went wrong beside faults that were not found: words of the report. */
  readonly problems: string[] = [];

  add(event: SelftestEvent): void {
    switch (event.kind) {
      case "planned":
        this.planned = event.faults + event.negativeBaselines;
        return;
      case "correct":
        this.problems.push(...event.failing.map((text) => `without a fault, seed ${event.seed}: ${text}`));
        return;
      case "fault":
        this.done++;
        this.faults.push(event.outcome);
        return;
      case "negativeBaseline":
        this.done++;
        if (event.outcome.problems.length === 0) this.baselinesPassed++;
        this.problems.push(...event.outcome.problems.map((text) => `${event.outcome.name}: ${text}`));
        return;
    }
    event satisfies never;
  }

  count(kind: FaultOutcome["kind"]): number {
    return this.faults.filter((outcome) => outcome.kind === kind).length;
  }

  /** Another vendor's provider may fail checks; the kit's own has to pass them, and every fault in it has to be found. */
  isGood(isReference: boolean): boolean {
    if (this.count("differs") > 0 || this.done < this.planned) return false;
    return !isReference || (this.problems.length === 0 && this.count("not shown") === 0);
  }
}

type Line = (event: SelftestEvent, tally: SelftestTally) => { readonly out: string; readonly err: string };

/** What to write of an event: for people, or JSON, one object a line; progress for a terminal. */
export const selftestLines = (isJson: boolean, isTerminal: boolean): Line => {
  const clear = isTerminal ? "\r\u001b[K" : "";
  return (event, { done, planned }) => ({
    out: isJson ? `${JSON.stringify(event)}\n` : textOf(event),
    err: isTerminal && done < planned ? `${clear}${done}/${planned}` : clear,
  });
};

const textOf = (event: SelftestEvent): string => {
  switch (event.kind) {
    case "planned":
      return "";
    case "correct":
      return event.failing.length === 0 ? "" : `WITHOUT FAULT, seed ${event.seed}\n  ${event.failing.join("\n  ")}\n`;
    case "fault":
      return outcomeLines(event.outcome);
    case "negativeBaseline":
      return baselineLines(event.outcome);
  }
  return event satisfies never;
};

/** `selftest: 80 faults, 75 found, …`, or the same as JSON. */
export const selftestSummary = (tally: SelftestTally, isReference: boolean, isJson: boolean): string => {
  const counts = {
    faults: tally.faults.length,
    found: tally.count("found"),
    differs: tally.count("differs"),
    notShown: tally.count("not shown"),
    negativeBaselinesPassed: tally.baselinesPassed,
  };
  const { problems } = tally;
  if (isJson) return `${JSON.stringify({ kind: "summary", ...counts, problems, good: tally.isGood(isReference) })}\n`;
  const shown = counts.notShown === 0 ? "" : `, ${counts.notShown} not shown, because no check passes without them`;
  const negativeBaselines = isReference ? `; ${counts.negativeBaselinesPassed} negative baselines passed` : "";
  const wrong = isReference && problems.length > 0 ? `; ${problems.length} problems:\n  ${problems.join("\n  ")}` : "";
  return `selftest: ${counts.faults} faults, ${counts.found} found, ${counts.differs} otherwise than they have to be${shown}${negativeBaselines}${wrong}\n`;
};
