import { PATHS } from "@cloudwire/operator-api";
import { readPage } from "../client/read-page.ts";
import { EXIT } from "../exit-codes.ts";
import { CONNECTION_OPTIONS, OUTPUT_OPTIONS, TIMEOUT_OPTION } from "../options/shared-options.ts";
import { show } from "./show.ts";
import { renderOrphans } from "../render/lists.ts";
import { readOrphans } from "../client/shapes/overview.ts";
import type { Command } from "./command.ts";
import { noOperands } from "./operands.ts";

/** It asks the clouds, which page their lists. */
const TIMEOUT = "2m";

export const orphans: Command = {
  name: "orphans",
  summary: "lists what is at the clouds with this cluster's stamp and has no owner in the cluster",
  operands: "",
  about: [
    "Lists load balancers and routes at the clouds that carry this cluster's stamp and have no owner in the cluster. The controller asks each provider for its lists, which takes calls of its budget: not a command to run every minute.",
    "It ends with 1 when a provider could not be asked, so that the list may lack some.",
  ],
  options: { ...OUTPUT_OPTIONS, ...CONNECTION_OPTIONS, timeout: { ...TIMEOUT_OPTION, default: TIMEOUT } },
  examples: [["orphans", "what costs money and serves nobody"]],
  run: async (call) => {
    noOperands(call);
    const content = await readPage(await call.controller(), PATHS.orphans);
    const page = readOrphans(content);
    show(call, { content, text: (style) => renderOrphans(page, style) });
    for (const { provider, message } of page.unreachableProviders)
      call.terminal.err(`${call.program}: the provider ${provider} could not be asked: ${message}\n`);
    return page.unreachableProviders.length === 0 ? EXIT.ok : EXIT.failed;
  },
};
