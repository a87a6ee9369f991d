import { type Scenario, table } from "../scenario.ts";

const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const metadataList = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
const metadataOnly = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const groups = [
  "authentication.k8s.io",
  "certificates.k8s.io",
  "coordination.k8s.io",
  "discovery.k8s.io",
  "events.k8s.io",
];

export const discoveryScenarios: readonly Scenario[] = [
  {
    name: "discovery",
    run: async ({ call }) => {
      await call("GET", "/api");
      await call("GET", "/apis");
      await call("GET", "/api/v1");
      for (const group of groups) {
        await call("GET", `/apis/${group}`);
        await call("GET", `/apis/${group}/v1`);
      }
      await call("GET", "/api", { accept: aggregated });
      await call("GET", "/apis", { accept: aggregated });
      await call("GET", "/api", { accept: `${aggregated},application/json` });
      await call("GET", "/version");
      for (const path of ["/healthz", "/livez", "/readyz"]) await call("GET", path);
    },
  },
  {
    name: "paths and methods that do not exist",
    run: async ({ call }) => {
      for (const path of [
        "/foo",
        "/api/v1/foos",
        "/api/v1/foos/x",
        "/api/v2",
        "/apis/foo",
        "/apis/foo/v1",
        "/apis/foo/v1/bars",
        "/apis/coordination.k8s.io/v9/leases",
      ]) {
        await call("GET", path);
      }
      await call("POST", "/api/v1/nodes/x", { body: {} });
      await call("PUT", "/api/v1/nodes", { body: {} });
      await call("POST", "/api/v1/configmaps", { body: {} });
      await call("GET", "/api/v1/services/x");
      await call("OPTIONS", "/api/v1/nodes");
    },
  },
  {
    name: "representations",
    run: async ({ call, quietly }) => {
      const node = "/api/v1/nodes/represented";
      const one = "/api/v1/nodes?fieldSelector=metadata.name%3Drepresented";
      await quietly("POST", "/api/v1/nodes", {
        body: { metadata: { name: "represented", labels: { "node-role.kubernetes.io/worker": "" } } },
      });
      await call("GET", one, { accept: table });
      await call("GET", node, { accept: table });
      await call("GET", `${node}?includeObject=None`, { accept: table });
      await call("GET", `${node}?includeObject=Object`, { accept: table });
      await call("GET", "/api/v1/nodes/unrepresented", { accept: table });
      await call("GET", node, { accept: metadataOnly });
      await call("GET", one, { accept: metadataList });
      await call("GET", node, { accept: `${table},application/json` });
      await call("GET", node, { accept: "application/json;as=Bogus;v=v1;g=meta.k8s.io,application/json" });
      await call("GET", node, { accept: "application/json;as=Bogus;v=v1;g=meta.k8s.io" });
      await call("GET", node, { accept: "*/*" });
      await call("GET", node, { accept: "text/html" });
      await call("GET", node, { accept: "application/json;q=0.9,text/html" });
      await call("DELETE", node, { accept: table });
    },
  },
];
