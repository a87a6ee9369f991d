import { describe, expect, test } from "vitest";
import { likelyNames, objectOf, parseObject, workersOf } from "./objects.ts";

test.each([
  { kind: "node", name: "w1", object: "node/w1" },
  { kind: "service", name: "shop/web", object: "service/shop/web" },
  { kind: "route", name: "w1", object: "route/w1" },
  { kind: "provider", name: "east", object: "provider/east" },
] as const)("objectOf() finds back $object from each key of it", ({ kind, name, object }) => {
  const workers = workersOf(kind, name);
  expect(workers.map((worker) => objectOf(worker))).toEqual(workers.map(() => object));
  expect(workers).not.toHaveLength(0);
});

test("objectOf() knows no object of other controllers", () => {
  expect(objectOf({ controller: "persistent-volume-label-controller", key: "pv-1" })).toBeUndefined();
});

describe("object reference", () => {
  const FORMS = "node/NAME, service/NAMESPACE/NAME, route/NODE or provider/NAME";
  const RULE = "names have at most 253 lower-case letters, digits, - and .";

  describe("parseObject()", () => {
    test.each([
      { text: "node/worker-1.example", kind: "node", name: "worker-1.example" },
      { text: "service/shop/web", kind: "service", name: "shop/web" },
      { text: "route/worker-1", kind: "route", name: "worker-1" },
      { text: "provider/aws", kind: "provider", name: "aws" },
    ])("reads $text", ({ text, kind, name }) => {
      expect(parseObject(text)).toEqual({ ref: text, kind, name });
    });

    test.each([
      { text: undefined, problems: [`missing object; use ?object=${FORMS}`] },
      { text: "", problems: [`missing object; use ?object=${FORMS}`] },
      { text: "pod/a", problems: [`object=pod/a: unknown kind "pod"; use ${FORMS}`] },
      { text: "node", problems: ["object=node is not a node; use node/NAME, such as node/worker-1"] },
      { text: "node/a/b", problems: ["object=node/a/b is not a node; use node/NAME, such as node/worker-1"] },
      {
        text: "service/web",
        problems: ["object=service/web is not a service; use service/NAMESPACE/NAME, such as service/shop/web"],
      },
      {
        text: "service/Shop/we_b",
        problems: [
          `object=service/Shop/we_b: "Shop" is not a name: ${RULE}; use service/NAMESPACE/NAME, such as service/shop/web`,
          `object=service/Shop/we_b: "we_b" is not a name: ${RULE}; use service/NAMESPACE/NAME, such as service/shop/web`,
        ],
      },
      { text: "node/", problems: [`object=node/: "" is not a name: ${RULE}; use node/NAME, such as node/worker-1`] },
    ])("says what to write instead of $text", ({ text, problems }) => {
      expect(parseObject(text)).toEqual({ problems });
    });
  });
});

describe("likely names", () => {
  test.each([
    ["wroker-1", ["worker-1", "master-1"], ["worker-1"]],
    ["default/web", ["shop/web", "shop/webb", "test/web"], ["shop/web", "test/web"]],
    ["shop/wbe", ["shop/web", "default/api"], ["shop/web"]],
    ["ip-10-0-0-7", ["ip-10-0-0-7.eu.internal", "ip-10-0-0-8.eu.internal"], ["ip-10-0-0-7.eu.internal"]],
    ["default/web", ["a/web", "b/web", "c/web", "d/web"], ["a/web", "b/web", "c/web"]],
    ["eu-17", ["eu-1-7", "eu-1"], ["eu-1-7"]],
    ["m7", ["m-7"], ["m-7"]],
    ["workker-01", ["worker-1"], ["worker-1"]],
    ["worker-1", ["workr1x", "wrker1y"], []],
    ["b", ["c"], []],
    ["anything-else", ["worker-1"], []],
    ["worker-1", [], []],
  ])("likelyNames() of %s among %j are %j", (name, known, wanted) => {
    expect(likelyNames(name, known)).toEqual(wanted);
  });
});
