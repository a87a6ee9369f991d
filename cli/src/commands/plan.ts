import { PATHS } from "@cloudwire/operator-api";
import { readPage } from "../client/read-page.ts";
import { EXIT } from "../exit-codes.ts";
import { CONNECTION_OPTIONS, OUTPUT_OPTIONS, WATCH_OPTIONS } from "../options/shared-options.ts";
import { showOrWatch } from "./show.ts";
import { renderPlans } from "../render/plans.ts";
import { readPlans } from "../client/shapes/overview.ts";
import { verdictOf } from "../client/shapes/plan-result.ts";
import type { Command } from "./command.ts";
import { noOperands } from "./operands.ts";

export const plan: Command = {
  name: "plan",
  summary: "says what would be written of what is only observed; the exit code is the go-ahead",
  operands: "",
  about: [
    "Says what a controller that only observes (--mode=observe) would write to the cluster and to the cloud, and does not. Before a hand-over, the exit code says whether it may go ahead: additions are expected then, changes and removals are not. A controller that observes takes part in no election: --pod names it.",
  ],
  options: { ...OUTPUT_OPTIONS, ...WATCH_OPTIONS, ...CONNECTION_OPTIONS },
  examples: [
    ["plan --pod NAME", "before this program takes over from another cloud-controller-manager"],
    ["plan --pod NAME --output json", "with every field that would be written"],
  ],
  exitCodes: {
    [EXIT.ok]: "go ahead: everything was looked at, and nothing that is there would be changed or removed",
    [EXIT.differences]: "something that is there would be changed or removed",
    [EXIT.undecided]: "it cannot be told: not everything has been looked at, or nothing is observed",
  },
  run: async (call) => {
    noOperands(call);
    let exitCode: number = EXIT.undecided;
    await showOrWatch(call, async () => {
      const content = await readPage(await call.controller(), PATHS.plans);
      const page = readPlans(content);
      ({ exitCode } = verdictOf(page));
      return { content, text: (style) => renderPlans(page, style) };
    });
    return exitCode;
  },
};
