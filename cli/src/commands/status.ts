import { PATHS } from "@cloudwire/operator-api";
import { readPage } from "../client/read-page.ts";
import { EXIT } from "../exit-codes.ts";
import { noOperands } from "./operands.ts";
import { CONNECTION_OPTIONS, OUTPUT_OPTIONS, WATCH_OPTIONS } from "../options/shared-options.ts";
import { showOrWatch } from "./show.ts";
import { renderOverview } from "../render/overview.ts";
import { readOverview } from "../client/shapes/overview.ts";
import type { Command } from "./command.ts";

export const status: Command = {
  name: "status",
  summary: "Show the overall status: alarms, objects, controllers, providers",
  operands: "",
  about: [
    "Show the overall status: alarms, the number of objects in each state, the controllers, and each provider with its call budgets and circuit breaker.",
  ],
  options: { ...OUTPUT_OPTIONS, ...WATCH_OPTIONS, ...CONNECTION_OPTIONS },
  examples: [["status --watch", "refresh every two seconds"]],
  run: async (call) => {
    noOperands(call);
    await showOrWatch(call, async () => {
      const content = await readPage(await call.controller(), PATHS.overview);
      return { content, text: (style) => renderOverview(readOverview(content), style) };
    });
    return EXIT.ok;
  },
};
