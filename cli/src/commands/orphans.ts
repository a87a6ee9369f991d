import { PATHS } from "@cloudwire/operator-api";
import { readPage } from "../client/read-page.ts";
import { EXIT } from "../exit-codes.ts";
import { CONNECTION_OPTIONS, OUTPUT_OPTIONS, TIMEOUT_OPTION } from "../options/shared-options.ts";
import { show } from "./show.ts";
import { renderOrphans } from "../render/lists.ts";
import { readOrphans } from "../client/shapes/overview.ts";
import type { Command } from "./command.ts";
import { noOperands } from "./operands.ts";

/** Clouds list page by page. */
const TIMEOUT = "2m";

export const orphans: Command = {
  name: "orphans",
  summary: "List cloud resources of this cluster without an owner in the cluster",
  operands: "",
  about: [
    "List load balancers and routes with this cluster's ownership tags whose owner does not exist in the cluster. The controller requests the lists from each provider and uses the provider's call budget: do not run this command every minute.",
    "If the controller cannot reach a provider, the exit code is 1, and orphans of that provider may be missing.",
  ],
  options: { ...OUTPUT_OPTIONS, ...CONNECTION_OPTIONS, timeout: { ...TIMEOUT_OPTION, default: TIMEOUT } },
  examples: [["orphans", "find unused resources that incur costs"]],
  run: async (call) => {
    noOperands(call);
    const content = await readPage(await call.controller(), PATHS.orphans);
    const page = readOrphans(content);
    show(call, { content, text: (style) => renderOrphans(page, style) });
    for (const { provider, message } of page.unreachableProviders)
      call.terminal.err(`${call.program}: provider ${provider} failed: ${message}\n`);
    return page.unreachableProviders.length === 0 ? EXIT.ok : EXIT.failed;
  },
};
