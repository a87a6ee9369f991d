import type { GetProviderInfoResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import { type Check, type FixtureName, profiles } from "../suite/check.ts";
import { hookActions, type HookName, hookNames, undoOf } from "../suite/hooks.ts";
import { allChecks } from "../checks/registry.ts";
import { isClaimed } from "../contract/capabilities.ts";

/** An item of the configuration template. */
interface Item {
  /** Its description, one sentence per line. */
  readonly what: readonly string[];
  /** YAML with the provider's prefix. */
  readonly yaml: (prefix: string) => readonly string[];
}

const items: Readonly<Record<FixtureName, Item>> = {
  instance: {
    what: [
      "A running instance that does not change during the run. The kit does not change it.",
      "Optional: type, zone, region and addresses, which the checks then compare. Without them, the checks only validate their format.",
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
    what: ["A second running instance, for routes and lists. The kit does not change it."],
    yaml: (prefix) => ["otherInstance:", `  providerId: ${prefix}…`, "  nodeName: …"],
  },
  stoppedProviderId: {
    what: ["A stopped instance that can be started again."],
    yaml: (prefix) => [`stoppedProviderId: ${prefix}…`],
  },
  terminatedProviderId: {
    what: ["A terminated instance."],
    yaml: (prefix) => [`terminatedProviderId: ${prefix}…`],
  },
  absentProviderId: {
    what: ["A well-formed ID of an instance that never existed. Each run replaces {uuid} with a new UUID."],
    yaml: (prefix) => [`absentProviderId: ${prefix}{uuid}`],
  },
  volume: {
    what: ["A volume that does not change. Optional: zones and region, which the checks then compare."],
    yaml: () => ["volume:", "  handle: …", "  zones: [a]", "  region: …"],
  },
  absentVolumeHandle: {
    what: ["A well-formed handle of a volume that never existed."],
    yaml: () => ["absentVolumeHandle: …"],
  },
  malformedVolumeHandle: {
    what: ["A handle that is malformed for your cloud."],
    yaml: () => ['malformedVolumeHandle: "?"'],
  },
  canarySecret: {
    what: [
      "A part of the provider's credentials, preferably of credentials for this run only. No response or log line may contain it.",
    ],
    yaml: () => ["canarySecret: …"],
  },
  scale: {
    what: [
      "The scale for level X: existing instances, nodes in a node set, and load balancers that the run may create.",
      "Time limits are proportional to it.",
    ],
    yaml: () => ["scale: { instances: 15000, nodes: 15000, loadBalancers: 200 }"],
  },
};

/** The hooks that the checks of the claimed capabilities need. */
const hooksItem = (names: readonly HookName[]): Item => ({
  what: [
    "Actions in the cloud for --level D and higher, each by a command or an HTTP request. Use a test cloud if possible.",
    "The kit undoes each action at the end of its check. It may also call the undo action without need; that must succeed.",
    ...names.map((name) => `${name} ${hookActions[name].what}.`),
    'Instead of command: http: { method: POST, url: "http://127.0.0.1:8080/faults", headers: {}, body: "${CONFORMANCE_ZONE}" }',
  ],
  yaml: () => [
    "hooks:",
    ...names.flatMap((name) => [`  ${name}:`, `    command: [./hooks.sh, ${name}]`, "    timeoutSeconds: 60"]),
  ],
});

const malformedIds: Item = {
  what: ["IDs with your prefix that are malformed for your cloud. The kit always tries the prefix alone."],
  yaml: (prefix) => [`malformedIds: ["${prefix}?"]`],
};

const loadBalancer: Item = {
  what: ["Settings of the load balancers that the kit creates and deletes, and the timeout for each."],
  yaml: () => ["loadBalancer:", "  class: …", "  annotations: {}", "  timeoutSeconds: 600"],
};

const routeCidrs: Item = {
  what: ["Two unused CIDRs for which the kit may create and delete routes."],
  yaml: () => ["routeCidrs: [198.18.0.0/24, 198.18.1.0/24]"],
};

const runLimits: Item = {
  what: [
    "Maximum number of load balancers and routes that exist at the same time, and a note on their cost, which --plan prints.",
    "Checks that need more are skipped.",
  ],
  yaml: () => ["limits: { maxResources: 4, maxCostNote: two small load balancers for an hour }"],
};

const testCloud: Item = {
  what: ["Address of a test cloud on this machine: runs then need no --yes."],
  yaml: () => ["testCloud: http://127.0.0.1:8080"],
};

/** A configuration template with the items that the checks of the claimed capabilities need. All items are commented out, so it is valid. */
export const initialConfig = (info: GetProviderInfoResponse): string => {
  const [prefix = "cloud://"] = info.providerIdPrefixes;
  const claimed = allChecks.filter((check) => isOfClaims(check, info));
  const sections: string[] = [];
  let name: FixtureName;
  for (name in items) {
    const ids = claimed.filter(({ fixtures }) => fixtures?.includes(name)).map(({ id }) => id);
    if (ids.length > 0) sections.push(section(items[name], prefix, `Enables ${counted(ids)}`));
  }
  if (isClaimed(info.capabilities, "instances"))
    sections.push(section(malformedIds, prefix, "Extends inst.absent.malformed"));
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
    sections.push(section(hooksItem(names), prefix, `Enables ${counted(withHooks)}`));
  }
  const without = claimed.filter(({ fixtures = [], hooks = [] }) => fixtures.length + hooks.length === 0).length;
  return `${[
    `# Settings for ${info.name} ${info.version} that cloudwire-conformance cannot detect.`,
    `# ${without} checks of its capabilities need none of them. Fill in the ones you have, and remove the "#" in front of them, but not in front of sentences.`,
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
