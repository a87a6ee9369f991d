import { expect, test } from "vitest";
import { UsageError } from "../errors.ts";
import { objectOf } from "./operands.ts";

test.each([
  ["node/a", "node/a"],
  ["nodes a", "node/a"],
  ["no/a", "node/a"],
  ["service/shop/web", "service/shop/web"],
  ["svc shop/web", "service/shop/web"],
  ["route worker-1", "route/worker-1"],
  ["Provider/aws", "provider/aws"],
])("objectOf() knows %s as %s", (line, object) => {
  expect(objectOf(line.split(" "))).toBe(object);
});

test.each([
  ["", "no object specified; use node/NAME, service/NAMESPACE/NAME, route/NODE or provider/NAME"],
  ["pod/a", "unknown kind pod; use one of node, service, route, provider"],
  ["constructor/a", "unknown kind constructor; use one of"],
  ["node", "no node specified; use node/NAME"],
  ["node/", "no node specified; use node/NAME"],
  ["svc", "no service specified; use service/NAMESPACE/NAME"],
  ["node/a/b", "invalid node node/a/b; use node/NAME"],
  ["service/web", "service/web has no namespace; use service/NAMESPACE/web (--namespace is that of"],
  ["svc web", "svc web has no namespace; use service/NAMESPACE/web"],
  ["service/shop/", "invalid service service/shop/; use service/NAMESPACE/NAME"],
  ["node/a node/b", "specify one object, not several: node/a node/b"],
  ["node a b", "specify one object, not several: node a b"],
])("objectOf() says what is wrong with %j", (line, problem) => {
  const ask = () => objectOf(line === "" ? [] : line.split(" "));
  expect(ask).toThrow(UsageError);
  expect(ask).toThrow(problem);
});
