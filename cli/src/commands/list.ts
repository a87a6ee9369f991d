import { OBJECT_KINDS, PATHS, STATES } from "@cloudwire/operator-api";
import { readPage } from "../client/read-page.ts";
import { UsageError } from "../errors.ts";
import { EXIT } from "../exit-codes.ts";
import { kindOf } from "./operands.ts";
import { CONNECTION_OPTIONS, OUTPUT_OPTIONS, WATCH_OPTIONS } from "../options/shared-options.ts";
import { showOrWatch } from "./show.ts";
import { renderRows } from "../render/lists.ts";
import { readRows } from "../client/shapes/overview.ts";
import type { Call, Command } from "./command.ts";

export const list: Command = {
  name: "list",
  summary: "List objects with their state and the cause of problems",
  operands: "[nodes | services | routes | providers]",
  about: [
    "List objects with state, provider and cause, one line each. The default is all kinds; separate several with commas: nodes,services. For the details of one object, use explain.",
  ],
  options: {
    state: {
      type: "text",
      valueName: "states",
      help: `Only objects in these states, separated by commas: ${STATES.join(", ")}. Default: all.`,
    },
    search: {
      type: "text",
      valueName: "text",
      help: "Only objects with this text in name, provider, reason or summary, ignoring case.",
    },
    limit: { type: "number", valueName: "number", default: "500", help: "Maximum number of objects." },
    ...OUTPUT_OPTIONS,
    ...WATCH_OPTIONS,
    ...CONNECTION_OPTIONS,
  },
  examples: [
    ["list --state blocked", "objects that need manual intervention"],
    ["list services --state waiting,blocked --watch", "Services without a load balancer, and why"],
    ["list nodes --search TooManyNodeDeletions -o json", "Nodes that the circuit breaker blocks, as JSON"],
  ],
  complete: (_call, before) => Promise.resolve(before.length > 0 ? [] : OBJECT_KINDS.map((kind) => `${kind}s`)),
  run: async (call) => {
    const query = queryOf(call);
    await showOrWatch(call, async () => {
      const content = await readPage(await call.controller(), PATHS.objects, query);
      return { content, text: (style) => renderRows(readRows(content), call.values.number("limit"), style) };
    });
    return EXIT.ok;
  },
};

/** @throws UsageError with all problems */
function queryOf({ operands, values }: Call): Readonly<Record<string, string>> {
  const problems: string[] = [];
  const kinds = operands.join(",").split(",").filter(Boolean);
  for (const kind of kinds)
    if (kindOf(kind) === undefined) problems.push(`unknown kind ${kind}; use one of ${OBJECT_KINDS.join(", ")}`);
  const states = values.text("state")?.split(",") ?? [];
  for (const state of states)
    if (!STATES.some((known) => known === state))
      problems.push(`invalid --state ${state}; use ${STATES.join(", ")}, or several separated by commas`);
  if (problems.length > 0) throw new UsageError(problems);
  const kindNames = new Set(kinds.map(kindOf));
  const search = values.text("search");
  return {
    ...(kinds.length === 0 ? {} : { kind: [...kindNames].join(",") }),
    ...(states.length === 0 ? {} : { state: states.join(",") }),
    ...(search === undefined ? {} : { search }),
    limit: values.textOf("limit"),
  };
}
