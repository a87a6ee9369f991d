import { describe, expect, test } from "vitest";
import { fieldRules } from "@cloudwire/proto/rules";
import { balancer } from "../../test/recordings.ts";
import { compareResponses, normalized } from "./compare.ts";
import * as treatments from "./field-treatments.ts";
import { Names } from "./names.ts";

const ENSURE = "cloudprovider.v1.EnsureLoadBalancerResponse";
const LIST = "cloudprovider.v1.ListInstancesResponse";
const at = (time: string) => ({ results: [{ instance: { providerId: "a://1", name: "n" }, readTime: time }] });

describe("compareResponses()", () => {
  test.each([
    ["the same", ENSURE, { loadBalancer: balancer("lb-1") }, { loadBalancer: balancer("lb-1") }],
    ["an id of its own", ENSURE, { loadBalancer: balancer("lb-1") }, { loadBalancer: balancer("lb-9") }],
    ["what it cost", ENSURE, { stats: { cloudCalls: 1 } }, { stats: { cloudCalls: 9, throttled: true } }],
    [
      "another time",
      "cloudprovider.v1.BatchGetInstancesResponse",
      at("2026-01-01T00:00:00Z"),
      at("2027-01-01T00:00:00Z"),
    ],
    [
      "text for people",
      ENSURE,
      { diagnostics: [{ reason: "A", summary: "one" }] },
      { diagnostics: [{ reason: "A", summary: "two" }] },
    ],
    [
      "a list in another order",
      LIST,
      { instances: [{ name: "a" }, { name: "b" }] },
      { instances: [{ name: "b" }, { name: "a" }] },
    ],
  ])("finds nothing in %s", (_, type, wanted, got) => {
    expect(compareResponses(type, wanted, got, new Names())).toEqual([]);
  });

  test.each([
    [
      "a phase",
      { loadBalancer: balancer("x") },
      { loadBalancer: balancer("x", { phase: "LOAD_BALANCER_PHASE_FAILED" }) },
      "loadBalancer.phase",
    ],
    [
      "a field that is gone",
      { loadBalancer: balancer("x", { registeredNodes: 1 }) },
      { loadBalancer: balancer("x") },
      "loadBalancer.registeredNodes",
    ],
    ["a message that is gone", { loadBalancer: balancer("x") }, {}, "loadBalancer"],
    [
      "an item of a list",
      { loadBalancer: balancer("x", { ingress: { items: [{ ip: "1" }] } }) },
      { loadBalancer: balancer("x", { ingress: { items: [] } }) },
      "loadBalancer.ingress.items[0]",
    ],
    [
      "a tag",
      { loadBalancer: balancer("x", { tags: { a: "1" } }) },
      { loadBalancer: balancer("x", { tags: { a: "2" } }) },
      'loadBalancer.tags["a"]',
    ],
    [
      "the reason of a diagnostic",
      { diagnostics: [{ reason: "A" }] },
      { diagnostics: [{ reason: "B" }] },
      "diagnostics[0].reason",
    ],
    ["an unknown field", { brandNew: 1 }, { brandNew: 2 }, "brandNew"],
  ])("finds %s", (_, wanted, got, field) => {
    expect(compareResponses(ENSURE, wanted, got, new Names()).map((difference) => difference.field)).toEqual([field]);
  });

  test("holds a thing to the name that it was first given, and one name to one thing", () => {
    const names = new Names();
    const compare = (recorded: string, live: string) =>
      compareResponses(ENSURE, { loadBalancer: balancer(recorded) }, { loadBalancer: balancer(live) }, names);
    expect(compare("lb-1", "x")).toEqual([]);
    expect(compare("lb-1", "y")).toEqual([{ field: "loadBalancer.id", wanted: "x", got: "y" }]);
    expect(compare("lb-2", "x")).toEqual([{ field: "loadBalancer.id", wanted: "lb-2", got: "x" }]);
  });

  test("compares secrets as recordings have them", () => {
    expect(compareResponses(ENSURE, { brandNew: "***" }, { brandNew: "***" }, new Names())).toEqual([]);
  });
});

describe("normalized()", () => {
  test("is the same for answers that differ in nothing that is compared", () => {
    const names = new Names();
    const recorded = { loadBalancer: balancer("lb-1"), stats: { cloudCalls: 1 } };
    const live = { loadBalancer: balancer("lb-9"), stats: { cloudCalls: 2 } };
    compareResponses(ENSURE, recorded, live, names);
    expect(normalized(ENSURE, live, names)).toEqual({ loadBalancer: balancer("lb-1") });
  });
});

test("normalized() is the same for a list in another order, which is no difference", () => {
  const [a, b] = ["a", "b"].map((name) => ({ name, providerId: `acme://${name}` }));
  expect(normalized(LIST, { instances: [b, a] }, new Names())).toEqual({ instances: [a, b] });
});

describe("the tables of treatments", () => {
  const { RESPONSE_FIELDS, REQUEST_NAMES, MATCH_FIELDS, SERVED_NAMES } = treatments;

  test.each([
    ["RESPONSE_FIELDS", RESPONSE_FIELDS],
    ["REQUEST_NAMES", REQUEST_NAMES],
    ["MATCH_FIELDS", MATCH_FIELDS],
    ["SERVED_NAMES", SERVED_NAMES],
  ])("%s name fields of the contract, each with a reason", (_, table) => {
    const unknown = Object.keys(table).filter((key) => {
      const [message = "", field] = key.split(".");
      return !fieldRules[`cloudprovider.v1.${message}`]?.some(({ jsonName }) => jsonName === field);
    });
    expect(unknown).toEqual([]);
    expect(Object.values(table).filter(({ why }) => why === "")).toEqual([]);
  });

  test("know every field that holds a scope, a machine, a token", () => {
    const known = new Set([...Object.keys(RESPONSE_FIELDS), ...Object.keys(REQUEST_NAMES)]);
    const missing = Object.entries(fieldRules).flatMap(([type, rules]) =>
      rules
        .filter(({ jsonName }) => /^(?:scopeId|.*[pP]roviderId|.*Token)$/.test(jsonName))
        .map(({ jsonName }) => `${type.replace("cloudprovider.v1.", "")}.${jsonName}`)
        .filter((field) => !known.has(field)),
    );
    // Of streams, whose messages are not compared.
    expect(missing).toEqual([
      "InstanceGone.providerId",
      "WatchInstancesResponse.resumeToken",
      "WatchLoadBalancersResponse.resumeToken",
    ]);
  });
});
