import type { WriteAction, PlanReport, PlannedReconcile } from "@cloudwire/operator-api";
import { table, wrap } from "../terminal/layout.ts";
import { planResultOf } from "../client/shapes/plan-result.ts";
import { cell, heading, type Style } from "./style.ts";

/** The planned writes, and whether a cutover is safe. */
export function renderPlans(page: PlanReport, style: Style): string {
  const { pending, failedKeys, plans } = page;
  const { paint, columns } = style;
  const result = planResultOf(page);
  const color = result.kind === "safe" ? paint.green : paint.yellow;
  const lines = [
    ...wrap(result.text, columns).map(color),
    ...(page.observing
      ? [
          `${counted(pending.delete, "delete")}, ${counted(pending.update, "update")} and ${counted(pending.create, "create")}.`,
        ]
      : []),
    ...plans.flatMap((plan) => planLines(plan, style)),
    ...(failedKeys.length === 0 ? [] : heading("Failed reconciles (their writes are unknown)", style)),
    ...table(
      failedKeys.map(({ controller, key, provider }) => [cell(controller), cell(key), cell(provider)]),
      { columns, indent: 2 },
    ),
  ];
  return `${lines.join("\n")}\n`;
}

function counted(count: number, action: WriteAction): string {
  return `${count} ${action}${count === 1 ? "" : "s"}`;
}

function planLines({ controller, key, provider, writes }: PlannedReconcile, style: Style): readonly string[] {
  const { paint, columns } = style;
  const paints: Readonly<Record<WriteAction, (text: string) => string>> = {
    create: paint.green,
    update: paint.yellow,
    delete: paint.red,
  };
  return [
    ...heading(`${controller} ${key}${provider === "" ? "" : ` (${provider})`}`, style),
    ...table(
      writes.map(({ action, summary }) => [{ text: action, paint: paints[action] }, cell(summary)]),
      { columns, indent: 2 },
    ),
  ];
}
