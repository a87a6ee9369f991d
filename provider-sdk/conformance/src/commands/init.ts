import type { GetProviderInfoResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import { type Check, type FixtureName, profiles } from "../suite/check.ts";
import { hookActions, type HookName, hookNames, undoOf } from "../suite/hooks.ts";
import { allChecks } from "../checks/registry.ts";
import { isClaimed } from "../contract/capabilities.ts";

/** An item of the configuration as it stands in a new one. */
interface Item {
  /** What it is, a sentence a line. */
  readonly what: readonly string[];
  /** YAML, made for the provider's prefix. */
  readonly yaml: (prefix: string) => readonly string[];
}

const items: Readonly<Record<FixtureName, Item>> = {
  instance: {
    what: [
      "A machine that runs and stays as it is during the run. Nothing is done to it.",
      "Type, zone, region and addresses are compared when given; without them the checks only look at their form.",
    ],
    yaml: (prefix) => [
      "instance:",
      `  providerId: ${prefix}…`,
      "  nodeName: …",
      "  type: …",
      "  zone: …",
      "  region: …",
      "  addresses: [192.0.2.1]",
    ],
  },
  otherInstance: {
    what: ["A second machine that runs, as target of routes and in lists. Nothing is done to it."],
    yaml: (prefix) => ["otherInstance:", `  providerId: ${prefix}…`, "  nodeName: …"],
  },
  stoppedProviderId: {
    what: ["A machine that is off and could be turned on again."],
    yaml: (prefix) => [`stoppedProviderId: ${prefix}…`],
  },
  terminatedProviderId: {
    what: ["A machine that was there and is terminated."],
    yaml: (prefix) => [`terminatedProviderId: ${prefix}…`],
  },
  absentProviderId: {
    what: ["An ID in the right form of a machine that never existed; {uuid} stands for a new one in each run."],
    yaml: (prefix) => [`absentProviderId: ${prefix}{uuid}`],
  },
  volume: {
    what: ["A volume that stays as it is. Zones and region are compared when given."],
    yaml: () => ["volume:", "  handle: …", "  zones: [a]", "  region: …"],
  },
  absentVolumeHandle: {
    what: ["A handle in the right form of a volume that never existed."],
    yaml: () => ["absentVolumeHandle: …"],
  },
  malformedVolumeHandle: {
    what: ["A handle that cannot be one of your cloud's."],
    yaml: () => ['malformedVolumeHandle: "?"'],
  },
  canarySecret: {
    what: [
      "A word of the credentials that the provider is run with, best of credentials made for this run: no answer may show it.",
    ],
    yaml: () => ["canarySecret: …"],
  },
  scale: {
    what: [
      "How much the cloud has and takes, for level X: machines that there are, nodes of a set, load balancers that may be made.",
      "Limits of time are in proportion to it.",
    ],
    yaml: () => ["scale: { instances: 15000, nodes: 15000, loadBalancers: 200 }"],
  },
};

/** What the kit may do to the cloud, as far as checks of the claims need it. */
const hooksItem = (names: readonly HookName[]): Item => ({
  what: [
    "What the kit may do to the cloud, from --level D on, each with a command or an HTTP request: best of all to a cloud made for tests.",
    "Each is undone at the end of its check; what undoes is also called where there is nothing to undo, and then has to succeed.",
    ...names.map((name) => `${name} ${hookActions[name].what}.`),
    'In place of command: http: { method: POST, url: "http://127.0.0.1:8080/faults", headers: {}, body: "${CONFORMANCE_ZONE}" }',
  ],
  yaml: () => [
    "hooks:",
    ...names.flatMap((name) => [`  ${name}:`, `    command: [./hooks.sh, ${name}]`, "    timeoutSeconds: 60"]),
  ],
});

const malformedIds: Item = {
  what: ["IDs under your prefix that cannot be one of your cloud's. The bare prefix is tried without asking."],
  yaml: (prefix) => [`malformedIds: ["${prefix}?"]`],
};

const loadBalancer: Item = {
  what: ["What load balancers need that are made and removed again, and how long one may take."],
  yaml: () => ["loadBalancer:", "  class: …", "  annotations: {}", "  timeoutSeconds: 600"],
};

const routeCidrs: Item = {
  what: ["Two ranges for which routes may be created and removed again, and that nothing else uses."],
  yaml: () => ["routeCidrs: [198.18.0.0/24, 198.18.1.0/24]"],
};

const runLimits: Item = {
  what: [
    "How many resources a run may have in the cloud at once, load balancers and routes together, and what that may cost: --plan shows it.",
    "A check that needs more is left out.",
  ],
  yaml: () => ["limits: { maxResources: 4, maxCostNote: two small load balancers for an hour }"],
};

const testCloud: Item = {
  what: ["Where your cloud is one for tests on this machine: then things are made there without --yes."],
  yaml: () => ["testCloud: http://127.0.0.1:8080"],
};

/**
 * A configuration for a provider that says this of itself: only what checks of its claims ask for, all of it commented out. So it is valid as it is, and
 * says what each item is worth.
 */
export const initialConfig = (info: GetProviderInfoResponse): string => {
  const [prefix = "cloud://"] = info.providerIdPrefixes;
  const claimed = allChecks.filter((check) => isOfClaims(check, info));
  const sections: string[] = [];
  let name: FixtureName;
  for (name in items) {
    const ids = claimed.filter(({ fixtures }) => fixtures?.includes(name)).map(({ id }) => id);
    if (ids.length > 0) sections.push(section(items[name], prefix, `Lets ${counted(ids)} run`));
  }
  if (isClaimed(info.capabilities, "instances"))
    sections.push(section(malformedIds, prefix, "Makes inst.absent.malformed try more"));
  if (isClaimed(info.capabilities, "load_balancers"))
    sections.push(section(loadBalancer, prefix, "Only with --level M or higher"));
  if (isClaimed(info.capabilities, "routes"))
    sections.push(section(routeCidrs, prefix, "Only with --level M or higher"));
  if (isClaimed(info.capabilities, "load_balancers") || isClaimed(info.capabilities, "routes"))
    for (const item of [runLimits, testCloud]) sections.push(section(item, prefix, "Only with --level M or higher"));
  const needed = new Set(claimed.flatMap(({ hooks = [] }) => hooks.flatMap((hook) => [hook, undoOf(hook) ?? hook])));
  const withHooks = claimed.filter(({ hooks = [] }) => hooks.length > 0).map(({ id }) => id);
  if (needed.size > 0) {
    const names = hookNames.filter((hook) => needed.has(hook));
    sections.push(section(hooksItem(names), prefix, `Lets ${counted(withHooks)} run`));
  }
  const without = claimed.filter(({ fixtures = [], hooks = [] }) => fixtures.length + hooks.length === 0).length;
  return `${[
    `# What cloudwire-conformance cannot find out about ${info.name} ${info.version} by itself.`,
    `# ${without} checks of what it claims need nothing of this. Fill in what you can and take away the "#" before it, not before sentences.`,
    "# Then: cloudwire-conformance run --config <this file> …",
    ...sections.flatMap((text) => ["", text]),
  ].join("\n")}\n`;
};

const isOfClaims = ({ profile, capability = "" }: Check, { capabilities }: GetProviderInfoResponse): boolean =>
  isClaimed(capabilities, profiles[profile]) && isClaimed(capabilities, capability);

const section = ({ what, yaml }: Item, prefix: string, worth: string): string =>
  [...what.map((line) => `# ${line}`), `# ${worth}.`, ...yaml(prefix).map((line) => `#${line}`)].join("\n");

const shownIds = 3;
const counted = (ids: readonly string[]): string => {
  const more = ids.length - shownIds;
  const shown = ids.slice(0, shownIds).join(", ");
  return more > 0 ? `${ids.length} checks (${shown} and ${more} more)` : shown;
};
