import { describe, expect, test } from "vitest";
import { node, service } from "../../test/support/builders.ts";
import { capabilities, idleProvider, info, instanceCapabilities } from "../../test/support/provider-builders.ts";
import { type NodeOwner, PrefixProviderSet } from "./provider-set.ts";

const acme = idleProvider("acme", info({ providerIdPrefixes: ["acme://", "acme-old://"] }));
const other = idleProvider(
  "other",
  info({
    providerIdPrefixes: ["other://"],
    capabilities: { loadBalancers: capabilities({ classes: ["other.example.com/lb"] }) },
  }),
);
const silent = idleProvider("silent", undefined);
const noNames = idleProvider(
  "no-names",
  info({ capabilities: { instances: instanceCapabilities({ lookupByName: false }), loadBalancers: undefined } }),
);

const nameOf = (owner: NodeOwner): string => (owner.kind === "owned" ? owner.provider.name : owner.kind);

describe("PrefixProviderSet.ownerOfNode()", () => {
  test.each([
    ["by its prefix", [acme, other], "other://i-1", "other"],
    ["by a former prefix", [acme, other], "acme-old://i-1", "acme"],
    ["without ID by the only provider", [acme], "", "acme"],
    ["without ID by nobody when it finds no names", [noNames], "", "unowned"],
    ["without ID by nobody when several could be meant", [acme, other], "", "unowned"],
    ["of a foreign prefix by nobody", [acme], "gce://p/z/i", "unowned"],
    ["of a foreign prefix not yet by nobody while one is silent", [acme, silent], "gce://p/z/i", "undecided"],
    ["without ID not yet by nobody before the first answer", [silent], "", "undecided"],
    ["by its prefix although another is silent", [silent, acme], "acme://i-1", "acme"],
  ] as const)("a node is owned %s", (_, providers, providerID, expected) => {
    const owner = new PrefixProviderSet(providers).ownerOfNode(node("n1", { spec: { providerID } }));
    expect(nameOf(owner)).toBe(expected);
  });

  test("an undecided owner says which provider is not there", () => {
    expect(new PrefixProviderSet([silent]).ownerOfNode(node("n1"))).toMatchObject({
      kind: "undecided",
      error: { message: "silent is not connected" },
    });
  });
});

describe("PrefixProviderSet.ownerOfService()", () => {
  test.each([
    ["without class by the first that serves any", [noNames, acme, other], undefined, "acme"],
    ["by its class", [acme, other], "other.example.com/lb", "other"],
    ["of a foreign class by nobody", [acme, other], "example.com/else", "unowned"],
    ["of a class not yet by nobody while one is silent", [acme, silent], "example.com/else", "undecided"],
    ["by nobody when no provider serves any", [noNames], undefined, "unowned"],
  ] as const)("a Service is owned %s", (_, providers, loadBalancerClass, expected) => {
    const owner = new PrefixProviderSet(providers).ownerOfService(service("web", { spec: { loadBalancerClass } }));
    expect(nameOf(owner)).toBe(expected);
  });
});
