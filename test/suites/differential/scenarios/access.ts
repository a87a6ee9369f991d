import { users } from "../clusters.ts";
import { type Scenario, merge } from "../scenario.ts";

const tokenReviews = "/apis/authentication.k8s.io/v1/tokenreviews";
const accessReviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
const selfAccessReviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const resourceAttributes = { verb: "get", resource: "nodes" };
const { token } = users.reader;

export const accessScenarios: readonly Scenario[] = [
  {
    name: "token reviews",
    run: async ({ call }) => {
      const ask = (body: unknown) => call("POST", tokenReviews, { body });
      await ask({ spec: { token } });
      await ask({ kind: "TokenReview", apiVersion: "authentication.k8s.io/v1", spec: { token: users.admin.token } });
      await ask({ spec: { token: "nope" } });
      await ask({ spec: { token, audiences: ["elsewhere"] } });
      await ask({ spec: {} });
      await ask({ metadata: { name: "a" }, spec: { token: "nope" } });
      await ask({ spec: { token: 5 } });
      await ask("{");
      await call("GET", tokenReviews);
      await call("DELETE", tokenReviews);
      await call("GET", `${tokenReviews}/x`);
    },
  },
  {
    name: "access reviews",
    run: async ({ call }) => {
      const ask = (spec: object) => call("POST", accessReviews, { body: { spec } });
      await ask({
        user: "outsider",
        groups: ["system:masters"],
        resourceAttributes: { ...resourceAttributes, verb: "delete" },
      });
      await ask({ user: "stranger", resourceAttributes });
      await ask({ user: "reader", resourceAttributes: { ...resourceAttributes, verb: "delete" } });
      await ask({ user: "stranger", nonResourceAttributes: { verb: "get", path: "/x" } });
      await ask({ resourceAttributes });
      await ask({ user: "stranger" });
      await ask({ user: "stranger", resourceAttributes, nonResourceAttributes: { verb: "get" } });
      const askSelf = (spec: object) => call("POST", selfAccessReviews, { token, body: { spec } });
      await askSelf({ resourceAttributes: { ...resourceAttributes, verb: "delete" } });
      await askSelf({});
      await call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", { token, body: {} });
    },
  },
  {
    name: "refused for lack of rights",
    run: async ({ call }) => {
      await call("GET", "/api/v1/nodes?limit=1&fieldSelector=metadata.name%3Dnone", { token });
      await call("POST", "/api/v1/nodes", { token, body: { metadata: { name: "x" } } });
      await call("GET", "/api/v1/namespaces/default/services", { token });
      await call("GET", "/api/v1/namespaces/default/services/x", { token });
      await call("GET", "/api/v1/services?watch=1", { token });
      await call("PATCH", "/api/v1/nodes/x/status", { token, contentType: merge, body: {} });
      await call("DELETE", "/apis/coordination.k8s.io/v1/namespaces/default/leases", { token });
      await call("DELETE", "/api/v1/namespaces/default", { token });
      await call("GET", "/api/v1/namespaces/default", { token });
      await call("GET", "/metrics", { token });
      await call("GET", "/api/v1/nodes", { token: "unknown-token" });
    },
  },
];
