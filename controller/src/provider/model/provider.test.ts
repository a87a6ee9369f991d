import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { node, service } from "../../../test/support/builders.ts";
import {
  capabilities,
  idleProvider,
  info,
  instanceCapabilities,
} from "../../../test/support/provider/provider-builders.ts";
import { type LabelSelector, parseLabelSelector } from "../../api/labels.ts";
import { providerSet } from "../ownership/provider-set.ts";
import { NO_RULES, type NodeOwner, type OwnershipRules } from "./provider.ts";

const acme = idleProvider("acme", info({ providerIdPrefixes: ["acme://", "acme-old://"] }));
const other = idleProvider(
  "other",
  info({
    providerIdPrefixes: ["other://"],
    capabilities: { loadBalancers: capabilities({ classes: ["other.example.com/lb"] }) },
  }),
);
const twin = idleProvider(
  "twin",
  info({ providerIdPrefixes: ["other://"], capabilities: other.info?.capabilities ?? {} }),
);
const inner = idleProvider("inner", info({ providerIdPrefixes: ["acme://zone-a://"] }));
const silent = idleProvider("silent", undefined);
const noNames = idleProvider(
  "no-names",
  info({
    providerIdPrefixes: ["no-names://"],
    capabilities: { instances: instanceCapabilities({ lookupByName: false }), loadBalancers: undefined },
  }),
);
const ALL = { acme, other, twin, inner, silent, noNames } as const;

/** `acme`, `unowned`, `undecided`, or `acme+other`: undecided until these have been asked. */
function nameOf(owner: NodeOwner): string {
  if (owner.kind === "owned") return owner.provider.name;
  if (owner.kind === "unowned" || owner.claimants === undefined) return owner.kind;
  return owner.claimants.map(({ provider }) => provider.name).join("+");
}

function selectors(texts: Readonly<Record<string, string>>): OwnershipRules["nodeSelectors"] {
  return new Map(Object.entries(texts).map(([name, text]) => [name, selector(text)]));
}

function selector(text: string): LabelSelector {
  const parsed = parseLabelSelector(text);
  if (parsed.kind === "invalid") throw new Error(parsed.problem);
  return parsed.selector;
}

const providersOf = (names: readonly (keyof typeof ALL)[]) => names.map((name) => ALL[name]);

describe("ownerOfNode()", () => {
  test.each([
    ["by its prefix", ["acme", "other"], "other://i-1", "other"],
    ["by a previous prefix", ["acme", "other"], "acme-old://i-1", "acme"],
    ["by the longer of two prefixes", ["acme", "inner"], "acme://zone-a://1", "inner"],
    ["by the longer of two prefixes, in any order", ["inner", "acme"], "acme://zone-a://1", "inner"],
    ["by no provider when two have the prefix", ["acme", "other", "twin"], "other://i-1", "undecided"],
    ["by its prefix although another is silent", ["silent", "acme"], "acme://i-1", "acme"],
    ["of a foreign prefix by no provider", ["acme"], "gce://p/z/i", "unowned"],
    ["of a foreign prefix not yet by no provider while one is silent", ["acme", "silent"], "gce://p/z/i", "undecided"],
    ["without ID by the only provider", ["acme"], "", "acme"],
    ["without ID by no provider when it finds no names", ["noNames"], "", "unowned"],
    ["without ID not yet before the only one answered", ["silent"], "", "undecided"],
    ["without ID by the one that claims it", ["acme", "other"], "", "acme+other"],
    ["without ID by the one that claims it, of those that find names", ["acme", "other", "noNames"], "", "acme+other"],
    ["without ID by no claim while one is silent", ["acme", "other", "silent"], "", "undecided"],
    ["without ID by no provider when none of several finds names", ["noNames", "noNames"], "", "unowned"],
  ] as const)("a node is owned %s", (_, names, providerID, expected) => {
    const owner = providerSet(providersOf(names)).ownerOfNode(node("n1", { spec: { providerID } }));
    expect(nameOf(owner)).toBe(expected);
  });

  test.each([
    ["by whose selector matches", { acme: "cloud=a", other: "cloud=b" }, ["acme", "other"], "b", "", "other"],
    ["by no provider when none matches", { acme: "cloud=a", other: "cloud=b" }, ["acme", "other"], "c", "", "unowned"],
    ["by no provider when two match", { acme: "cloud", other: "cloud=b" }, ["acme", "other"], "b", "", "undecided"],
    ["whatever others do", { acme: "cloud=a" }, ["acme", "silent"], "a", "", "acme"],
    ["not before the one selected has answered", { silent: "cloud=a" }, ["acme", "silent"], "a", "", "undecided"],
    [
      "by no provider when the one selected finds no names",
      { noNames: "cloud=a" },
      ["acme", "noNames"],
      "a",
      "",
      "unowned",
    ],
    ["by claim of those without selector", { silent: "cloud=a" }, ["silent", "acme", "other"], "b", "", "acme+other"],
    ["by claim of the one without selector", { other: "cloud=a" }, ["acme", "other"], "b", "", "acme"],
    ["by no provider when the only one's does not match", { acme: "cloud=a" }, ["acme"], "b", "", "unowned"],
    ["by its ID, not by its labels", { acme: "cloud=a", other: "cloud=b" }, ["acme", "other"], "b", "acme://1", "acme"],
    [
      "by label where two have the prefix",
      { other: "cloud=b", twin: "cloud=c" },
      ["other", "twin"],
      "c",
      "other://1",
      "twin",
    ],
    [
      "by no provider where labels do not decide",
      { other: "cloud=b", twin: "cloud=c" },
      ["other", "twin"],
      "d",
      "other://1",
      "undecided",
    ],
    [
      "by no provider where one has no selector",
      { other: "cloud=b" },
      ["other", "twin"],
      "d",
      "other://1",
      "undecided",
    ],
    [
      "not before the selected one has answered, too",
      { silent: "cloud=b" },
      ["acme", "silent"],
      "b",
      "acme://1",
      "undecided",
    ],
    [
      "by ID and label, whichever provider is silent",
      { silent: "cloud", acme: "cloud=b" },
      ["acme", "silent"],
      "b",
      "acme://1",
      "acme",
    ],
  ] as const)("with selectors a node is owned %s", (_, texts, names, cloud, providerID, expected) => {
    const byCli = Object.fromEntries(
      Object.entries(texts).map(([name, text]) => [name === "noNames" ? "no-names" : name, text]),
    );
    const set = providerSet(providersOf(names), { ...NO_RULES, nodeSelectors: selectors(byCli) });
    const owner = set.ownerOfNode(node("n1", { metadata: { labels: { cloud } }, spec: { providerID } }));
    expect(nameOf(owner)).toBe(expected);
  });

  test.each([
    ["names a provider that may declare a longer prefix", {}, "silent"],
    ["names no provider once the operator's selector has decided", { acme: "cloud=b" }, undefined],
  ])("an owner by ID %s", (_, texts, unheard) => {
    const rules = { ...NO_RULES, nodeSelectors: selectors(texts) };
    const set = providerSet(providersOf(["acme", "silent"]), rules);
    const owner = set.ownerOfNode(
      node("n1", { metadata: { labels: { cloud: "b" } }, spec: { providerID: "acme://1" } }),
    );
    expect([owner.kind, owner.kind === "owned" ? owner.unheard : ""]).toEqual(["owned", unheard]);
  });

  test("an undecided owner says which provider is not there", () => {
    expect(providerSet([silent]).ownerOfNode(node("n1"))).toMatchObject({
      kind: "undecided",
      error: { message: "silent is not connected" },
    });
  });

  test("an ambiguous node names its providers, for the operator to decide", () => {
    const owner = providerSet([other, twin]).ownerOfNode(node("n1", { spec: { providerID: "other://1" } }));
    expect(owner).toMatchObject({
      kind: "undecided",
      error: {
        class: "OPERATOR",
        message: expect.stringContaining("other and twin could own node n1: several providers have"),
      },
    });
  });
});

describe("providerSet()", () => {
  const anyProvider = fc.record({
    prefix: fc.constantFrom("east://", "west://", "north://"),
    answers: fc.boolean(),
    findsNames: fc.boolean(),
  });
  const providersFrom = (parts: readonly { prefix: string; answers: boolean; findsNames: boolean }[]) =>
    parts.map(({ prefix, answers, findsNames }, index) => {
      const instances = instanceCapabilities({ lookupByName: findsNames });
      const declared = info({ providerIdPrefixes: [prefix], capabilities: { instances } });
      return idleProvider(`other-${index}`, answers ? declared : undefined);
    });

  test("owns a node with ID by the provider that declares its prefix, whatever the others do", () => {
    fc.assert(
      fc.property(fc.array(anyProvider), (others) => {
        const owner = providerSet([...providersFrom(others), acme]).ownerOfNode(
          node("n1", { spec: { providerID: "acme://1" } }),
        );
        expect(nameOf(owner)).toBe("acme");
      }),
    );
  });

  test("never owns a node for the order in which providers are given or have answered", () => {
    const nodes = ["", "east://1", "west://1", "gce://1"].map((providerID) => node("n1", { spec: { providerID } }));
    fc.assert(
      fc.property(fc.array(anyProvider, { minLength: 2 }), (others) => {
        const providers = providersFrom(others);
        const [forwards, backwards] = [providers, providers.toReversed()].map((all) => providerSet(all));
        const named = (set: ReturnType<typeof providerSet> | undefined) =>
          nodes.map((one) => set && nameOf(set.ownerOfNode(one)).split("+").toSorted().join("+"));
        expect(named(forwards)).toEqual(named(backwards));
      }),
    );
  });
});

describe("ownerOfService()", () => {
  const isSettled = (): boolean => false;
  const [CLASS, ELSE] = ["other.example.com/lb", "example.com/else"];
  test.each([
    ["without class by the first", ["acme", "other"], {}, undefined, "acme"],
    [
      "without class by the default one",
      ["acme", "other"],
      { defaultLoadBalancerProvider: "other" },
      undefined,
      "other",
    ],
    [
      "without class by the default one, whichever provider is silent",
      ["silent", "acme"],
      { defaultLoadBalancerProvider: "acme" },
      undefined,
      "acme",
    ],
    ["without class not before the default one answered", ["silent", "acme"], {}, undefined, "undecided"],
    ["without class by no provider when the default one serves none", ["noNames", "acme"], {}, undefined, "unowned"],
    ["by its class", ["acme", "other"], {}, CLASS, "other"],
    ["by its class although another is silent", ["other", "silent"], {}, CLASS, "other"],
    ["by no class before all had the time to answer", ["other", "silent"], { isSettled }, CLASS, "undecided"],
    [
      "without class by no provider before all had the time to answer",
      ["acme", "silent"],
      { isSettled },
      undefined,
      "undecided",
    ],
    ["without class as soon as all have answered", ["acme", "other"], { isSettled }, undefined, "acme"],
    ["by its class as soon as all have answered", ["acme", "other"], { isSettled }, CLASS, "other"],
    ["by no provider when two serve its class", ["acme", "other", "twin"], {}, CLASS, "undecided"],
    ["of a foreign class by no provider", ["acme", "other"], {}, ELSE, "unowned"],
    ["of a class not yet by no provider while one is silent", ["acme", "silent"], {}, ELSE, "undecided"],
  ] as const)("a Service is owned %s", (_, names, rules, loadBalancerClass, expected) => {
    const set = providerSet(providersOf(names), { ...NO_RULES, ...rules });
    expect(nameOf(set.ownerOfService(service("web", { spec: { loadBalancerClass } })))).toBe(expected);
  });

  test("a Service of a provider whose nodes another could have, too, is left as it is until labels distinguish them", () => {
    const cousin = idleProvider("cousin", info({ providerIdPrefixes: ["acme://"] }));
    const owner = (nodeSelectors: OwnershipRules["nodeSelectors"]) =>
      providerSet([acme, other, cousin], { ...NO_RULES, nodeSelectors }).ownerOfService(service("web"));
    expect(owner(new Map())).toMatchObject({
      kind: "undecided",
      error: { message: expect.stringContaining("several providers have the same provider-ID prefix") },
    });
    expect(nameOf(owner(selectors({ acme: "cloud=a" })))).toBe("undecided");
    expect(nameOf(owner(selectors({ acme: "cloud=a", cousin: "cloud=c" })))).toBe("acme");
  });

  test("an ambiguous Service names its providers, for the operator to decide", () => {
    const set = providerSet([other, twin]);
    expect(set.ownerOfService(service("web", { spec: { loadBalancerClass: CLASS } }))).toMatchObject({
      kind: "undecided",
      error: {
        class: "OPERATOR",
        message:
          "several providers serve load-balancer class other.example.com/lb (other and twin): the Service has no owner until only one does",
      },
    });
  });
});
