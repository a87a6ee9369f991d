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
  summary: "lists objects: how each stands, and what is in its way",
  operands: "[nodes | services | routes | providers]",
  about: [
    "Lists objects with how each stands, whose it is, and what is in its way, one line each; explain tells all of one. Without a kind it lists all kinds, and several kinds are written with commas: nodes,services.",
  ],
  options: {
    state: {
      type: "text",
      valueName: "states",
      help: `Only objects that stand so, several with commas: ${STATES.join(", ")}. Default: all.`,
    },
    search: {
      type: "text",
      valueName: "text",
      help: "Only objects with this text in their name, provider, reason or sentence, in letters of either size.",
    },
    limit: { type: "number", valueName: "number", default: "500", help: "No more than so many objects." },
    ...OUTPUT_OPTIONS,
    ...WATCH_OPTIONS,
    ...CONNECTION_OPTIONS,
  },
  examples: [
    ["list --state blocked", "what does not go on by itself"],
    ["list services --state waiting,blocked --watch", "which load balancers are not there yet, and why"],
    ["list nodes --search TooManyNodeDeletions -o json", "the same for a program, of Nodes that the brake holds"],
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

/** All that is wrong with the question together. */
function queryOf({ operands, values }: Call): Readonly<Record<string, string>> {
  const problems: string[] = [];
  const kinds = operands.join(",").split(",").filter(Boolean);
  for (const kind of kinds)
    if (kindOf(kind) === undefined) problems.push(`there is no kind ${kind}; it is one of ${OBJECT_KINDS.join(", ")}`);
  const states = values.text("state")?.split(",") ?? [];
  for (const state of states)
    if (!STATES.some((known) => known === state))
      problems.push(`--state is ${state}; it is one of ${STATES.join(", ")}, or several of them with commas`);
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
