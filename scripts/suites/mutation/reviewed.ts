import type { Reviewed } from "./report.ts";

const BOTH_THERE = "the pair was chosen because both labels are there: the text that stands in is never taken";

/** Survivors that someone has looked at, with the reason why no test could or should notice them. */
export const REVIEWED: readonly Reviewed[] = [
  {
    path: "controller/src/controllers/node/plan/addresses.ts",
    before: 'const [head = "", tail] = halves;',
    after: 'const [head = "Stryker was here!", tail] = halves;',
    why: "what is split has a first part",
  },
  {
    path: "controller/src/controllers/node/plan/addresses.ts",
    before:
      'const octets = endsAddress && index === parts.length - 1 && part.includes(".") ? parseIpv4(part) : undefined;',
    after:
      'const octets = endsAddress && index === parts.length - 1 && part.includes("") ? parseIpv4(part) : undefined;',
    why: "saves work only: what has no dots is no IPv4 address",
  },
  {
    path: "controller/src/controllers/node/plan.ts",
    before: 'return providerId.slice(providerId.indexOf("://") + 1).toLowerCase();',
    after: 'return providerId.slice(providerId.indexOf("://") + 1).toUpperCase();',
    why: "two such texts are compared with each other only",
  },
  {
    path: "controller/src/controllers/persistent-volume-label/plan/labels.ts",
    before: 'const [zoneText, regionText] = [labels[zone] ?? "", labels[region] ?? ""];',
    after: 'const [zoneText, regionText] = [labels[zone] ?? "Stryker was here!", labels[region] ?? ""];',
    why: BOTH_THERE,
  },
  {
    path: "controller/src/controllers/persistent-volume-label/plan/labels.ts",
    before: 'const [zoneText, regionText] = [labels[zone] ?? "", labels[region] ?? ""];',
    after: 'const [zoneText, regionText] = [labels[zone] ?? "", labels[region] ?? "Stryker was here!"];',
    why: BOTH_THERE,
  },
];
