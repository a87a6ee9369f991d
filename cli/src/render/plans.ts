import type { Effect, PlansPage, ShownPlan } from "@cloudwire/operator-api";
import { table, wrap } from "../terminal/layout.ts";
import { verdictOf } from "../client/shapes/plan-result.ts";
import { cell, heading, type Style } from "./style.ts";

/** What would be written, for people, and what that means for a hand-over. */
export function renderPlans(page: PlansPage, style: Style): string {
  const { pending, undecided, plans } = page;
  const { paint, columns } = style;
  const verdict = verdictOf(page);
  const colour = verdict.kind === "goAhead" ? paint.green : paint.yellow;
  const lines = [
    ...wrap(verdict.text, columns).map(colour),
    ...(page.observes
      ? [
          `${counted(pending.removal, "removal")}, ${counted(pending.change, "change")} and ${counted(pending.addition, "addition")}.`,
        ]
      : []),
    ...plans.flatMap((plan) => planLines(plan, style)),
    ...(undecided.length === 0 ? [] : heading("Not decided: the last look failed", style)),
    ...table(
      undecided.map(({ controller, key, provider }) => [cell(controller), cell(key), cell(provider)]),
      { columns, indent: 2 },
    ),
  ];
  return `${lines.join("\n")}\n`;
}

function counted(count: number, effect: Effect): string {
  return `${count} ${effect}${count === 1 ? "" : "s"}`;
}

function planLines({ controller, key, provider, writes }: ShownPlan, style: Style): readonly string[] {
  const { paint, columns } = style;
  const paints: Readonly<Record<Effect, (text: string) => string>> = {
    addition: paint.green,
    change: paint.yellow,
    removal: paint.red,
  };
  return [
    ...heading(`${controller} ${key}${provider === "" ? "" : ` (${provider})`}`, style),
    ...table(
      writes.map(({ effect, summary }) => [{ text: effect, paint: paints[effect] }, cell(summary)]),
      { columns, indent: 2 },
    ),
  ];
}
