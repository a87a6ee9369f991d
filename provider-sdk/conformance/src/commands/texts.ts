import { type GetProviderInfoResponse, Limits } from "@cloudwire/proto/cloudprovider/v1/identity";
import { type Check, profiles } from "../suite/check.ts";
import { claimedCapabilities, isClaimed } from "../contract/capabilities.ts";
import type { PlannedCheck } from "../suite/plan.ts";

/** Every check on a line. */
export const listing = (checks: readonly Check[]): string => {
  const width = Math.max(...checks.map(({ id }) => id.length));
  const lines = checks.map(
    ({ id, level, profile, title, rules, advisory }) =>
      `${id.padEnd(width)}  ${level}  ${profile.padEnd(14)}  ${title} [${rules.join(", ")}]${advisory === true ? " (advice)" : ""}`,
  );
  return `${lines.join("\n")}\n\n${checks.length} checks\n`;
};

/** What the letters of levels mean. */
export const levelTexts: Readonly<Record<Check["level"], string>> = {
  S: "S: needs nothing but the provider",
  R: "R: reads from the cloud",
  M: "M: makes and removes things at the cloud",
  D: "D: restarts and kills the provider",
  X: "X: many things at once",
};

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
