import { type GetProviderInfoResponse, Limits } from "@cloudwire/proto/cloudprovider/v1/identity";
import { claimedCapabilities, isClaimed } from "../contract/capabilities.ts";
import { profiles } from "../suite/check.ts";
import type { PlannedCheck } from "../suite/plan.ts";

/** What a provider says of itself, and how much of each profile a run with the same options would test. */
export const inspection = (info: GetProviderInfoResponse, planned: readonly PlannedCheck[]): string => {
  const { limits } = info;
  const lines: readonly (readonly [string, string])[] = [
    ["name", `${info.name} ${info.version}`],
    ["contract", `${info.contractMajor}.${info.contractMinor}`],
    ["scope", info.scopeId || "not known yet"],
    ["boot", info.bootId],
    ["prefixes", info.providerIdPrefixes.join(" ")],
    ["services", info.services.join(" ")],
    ["claims", claimedCapabilities(info.capabilities).join(" ")],
    ["limits", limits === undefined ? "none" : JSON.stringify(Limits.toJSON(limits))],
    [
      "build",
      Object.entries(info.build)
        .map(([name, value]) => `${name}=${value}`)
        .join(" "),
    ],
  ];
  const tested = [...Map.groupBy(planned, ({ check }) => check.profile)].map(([name, ofProfile]) => {
    const runs = ofProfile.filter(({ skip }) => skip === undefined).length;
    return `  ${name.padEnd(16)}${isClaimed(info.capabilities, profiles[name]) ? `${runs} of ${ofProfile.length} checks would run` : `not claimed: ${profiles[name]}`}`;
  });
  return `${[
    ...lines.map(([name, text]) => `${name.padEnd(10)}${text}`),
    "",
    "profiles, and why the others would not run: list --why",
    ...tested,
  ].join("\n")}\n`;
};
