import { PATHS } from "@cloudwire/operator-api";
import { readPage } from "../client/read-page.ts";
import { EXIT } from "../exit-codes.ts";
import { CONNECTION_OPTIONS, OUTPUT_OPTIONS, WATCH_OPTIONS } from "../options/shared-options.ts";
import { showOrWatch } from "./show.ts";
import { renderPlans } from "../render/plans.ts";
import { readPlans } from "../client/shapes/overview.ts";
import { planResultOf } from "../client/shapes/plan-result.ts";
import type { Command } from "./command.ts";
import { noOperands } from "./operands.ts";

export const plan: Command = {
  name: "plan",
  summary: "Show the planned writes of observe mode; the exit code shows whether a cutover is safe",
  operands: "",
  about: [
    "Show what a controller in observe mode (--mode=observe) would write to the cluster and to the cloud. Before a cutover, the exit code shows whether it is safe to proceed: creates are expected, updates and deletes are not. A controller in observe mode does not take part in leader election, so specify its pod with --pod.",
  ],
  options: { ...OUTPUT_OPTIONS, ...WATCH_OPTIONS, ...CONNECTION_OPTIONS },
  examples: [
    ["plan --pod NAME", "before a migration from another cloud-controller-manager"],
    ["plan --pod NAME --output json", "with every planned field"],
  ],
  exitCodes: {
    [EXIT.ok]: "safe to proceed: the plan is complete, without updates and deletes",
    [EXIT.differences]: "existing objects or resources would be updated or deleted",
    [EXIT.unknown]: "unknown: the plan is not complete, or the controller is not in observe mode",
  },
  run: async (call) => {
    noOperands(call);
    let exitCode: number = EXIT.unknown;
    await showOrWatch(call, async () => {
      const content = await readPage(await call.controller(), PATHS.plans);
      const page = readPlans(content);
      ({ exitCode } = planResultOf(page));
      return { content, text: (style) => renderPlans(page, style) };
    });
    return exitCode;
  },
};
