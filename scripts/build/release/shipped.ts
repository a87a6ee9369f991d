import { readProviders } from "../../lib/providers.ts";

/** Packages for vendors' projects, by their directories. */
export const LIBRARIES = ["proto", "provider-sdk/typescript", "provider-sdk/create"] as const;

/** Packages that end in programs, by their directories. */
const PROGRAMS: readonly string[] = [
  "controller",
  "cli",
  "status-page",
  "provider-sdk/conformance",
  ...readProviders()
    .filter(({ language }) => language === "typescript")
    .map(({ directory }) => directory),
];

/** All that leaves this repository for Node. */
export const SHIPPED: readonly string[] = [...LIBRARIES, ...PROGRAMS];
