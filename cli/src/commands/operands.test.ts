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
  ["", "of which object? node/NAME, service/NAMESPACE/NAME, route/NODE or provider/NAME"],
  ["pod/a", "there is no kind pod; it is one of node, service, route, provider"],
  ["constructor/a", "there is no kind constructor; it is one of"],
  ["node", "of which node? node/NAME"],
  ["node/", "of which node? node/NAME"],
  ["svc", "of which service? service/NAMESPACE/NAME"],
  ["node/a/b", "node/a/b is no node: node/NAME is one"],
  ["service/web", "service/web names no namespace: write service/NAMESPACE/web (--namespace is where"],
  ["svc web", "svc web names no namespace: write service/NAMESPACE/web"],
  ["service/shop/", "service/shop/ is no service: service/NAMESPACE/NAME is one"],
  ["node/a node/b", "node/a node/b is more than one object"],
  ["node a b", "node a b is more than one object"],
])("objectOf() says what is wrong with %j", (line, problem) => {
  const ask = () => objectOf(line === "" ? [] : line.split(" "));
  expect(ask).toThrow(UsageError);
  expect(ask).toThrow(problem);
});
