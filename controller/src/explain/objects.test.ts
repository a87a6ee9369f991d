import { expect, test } from "vitest";
import { objectOf, workersOf } from "./objects.ts";

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
