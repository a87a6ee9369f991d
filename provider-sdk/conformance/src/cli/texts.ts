import type { GetProviderInfoResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import { type Check, profiles } from "../check/check.ts";
import { allChecks } from "../checks/registry.ts";
import { claimedCapabilities, isClaimed } from "../contract/capabilities.ts";

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

/** What a provider says of itself. */
export const inspection = (info: GetProviderInfoResponse): string => {
  const lines: readonly (readonly [string, string])[] = [
    ["name", `${info.name} ${info.version}`],
    ["contract", `${info.contractMajor}.${info.contractMinor}`],
    ["scope", info.scopeId],
    ["prefixes", info.providerIdPrefixes.join(" ")],
    ["services", info.services.join(" ")],
    ["claims", claimedCapabilities(info.capabilities).join(" ")],
    [
      "build",
      Object.entries(info.build)
        .map(([name, value]) => `${name}=${value}`)
        .join(" "),
    ],
  ];
  const tested = Object.entries(profiles).map(([name, capability]) => {
    const count = allChecks.filter(({ profile }) => profile === name).length;
    const claimed = isClaimed(info.capabilities, capability);
    return `  ${name.padEnd(16)}${claimed ? `${count} checks` : `not claimed: ${capability}`}`;
  });
  return `${[...lines.map(([name, text]) => `${name.padEnd(10)}${text}`), "", "profiles", ...tested].join("\n")}\n`;
};
