import { expect, test } from "vitest";
import { parseRequestPath } from "./request-info.ts";

const resource = (change: object): object => ({
  kind: "resource",
  group: "",
  version: "v1",
  namespace: "",
  resource: "",
  name: "",
  subresource: "",
  watch: false,
  ...change,
});

test.each([
  ["/api/v1/nodes", resource({ resource: "nodes" })],
  ["/api/v1/nodes/n", resource({ resource: "nodes", name: "n" })],
  ["/api/v1/nodes/n/status", resource({ resource: "nodes", name: "n", subresource: "status" })],
  ["/api/v1/nodes/a%2Fb", resource({ resource: "nodes", name: "a/b" })],
  ["/api/v1/namespaces/x", resource({ resource: "namespaces", name: "x" })],
  ["/api/v1/namespaces/x/finalize", resource({ resource: "namespaces", name: "x", subresource: "finalize" })],
  ["/api/v1/namespaces/x/services", resource({ namespace: "x", resource: "services" })],
  [
    "/api/v1/namespaces/x/services/s/status",
    resource({ namespace: "x", resource: "services", name: "s", subresource: "status" }),
  ],
  [
    "/apis/g.k8s.io/v1/namespaces/x/leases/l",
    resource({ group: "g.k8s.io", namespace: "x", resource: "leases", name: "l" }),
  ],
  ["/api/v1/watch/nodes/n", resource({ resource: "nodes", name: "n", watch: true })],
  ["/api/v1", { kind: "other", path: "/api/v1" }],
  ["/apis/g/v1", { kind: "other", path: "/apis/g/v1" }],
  ["/healthz", { kind: "other", path: "/healthz" }],
  ["/", { kind: "other", path: "/" }],
])("parseRequestPath(%s)", (path, expected) => {
  expect(parseRequestPath(path)).toEqual(expected);
});
