import { type Scenario, merge } from "../scenario.ts";
import { textAt } from "../value.ts";

const path = "/api/v1/nodes";

export const deletionScenarios: readonly Scenario[] = [
  {
    name: "delete: preconditions",
    run: async ({ call }) => {
      await call("POST", path, { body: { metadata: { name: "pre" } } });
      await call("DELETE", `${path}/pre`, { body: { preconditions: { uid: "00000000-0000-4000-8000-000000000000" } } });
      await call("DELETE", `${path}/pre`, { body: { preconditions: { resourceVersion: "1" } } });
      const { body } = await call("GET", `${path}/pre`);
      await call("DELETE", `${path}/pre`, {
        body: {
          kind: "DeleteOptions",
          apiVersion: "v1",
          preconditions: {
            uid: textAt(body, "metadata", "uid"),
            resourceVersion: textAt(body, "metadata", "resourceVersion"),
          },
        },
      });
    },
  },
  {
    name: "delete: finalizers keep the object until the last is gone",
    run: async ({ call }) => {
      const node = `${path}/held`;
      const finalizers = (list: readonly string[] | null) =>
        call("PATCH", node, { contentType: merge, body: { metadata: { finalizers: list } } });
      await call("POST", path, { body: { metadata: { name: "held", finalizers: ["a.b/one", "a.b/two"] } } });
      await call("DELETE", node);
      await call("DELETE", node);
      await call("POST", path, { body: { metadata: { name: "held" } } });
      await finalizers(["a.b/one", "a.b/two", "a.b/three"]);
      await finalizers(["a.b/two"]);
      await call("PATCH", node, {
        contentType: merge,
        body: { metadata: { deletionTimestamp: null, labels: { still: "here" } } },
      });
      await call("PATCH", `${node}/status`, { contentType: merge, body: { metadata: { finalizers: null } } });
      await call("GET", node);
    },
  },
  {
    name: "delete: propagation policies",
    run: async ({ call }) => {
      for (const propagationPolicy of ["Background", "Foreground", "Orphan", "Bogus"]) {
        const name = `policy-${propagationPolicy.toLowerCase()}`;
        await call("POST", path, { body: { metadata: { name } } });
        await call("DELETE", `${path}/${name}`, { body: { propagationPolicy } });
        await call("DELETE", `${path}/${name}?propagationPolicy=Background`);
        await call("GET", `${path}/${name}`);
      }
      await call("POST", path, { body: { metadata: { name: "policy-both" } } });
      await call("DELETE", `${path}/policy-both`, { body: { propagationPolicy: "Orphan", orphanDependents: false } });
    },
  },
  {
    name: "delete: options that make no sense",
    run: async ({ call }) => {
      await call("POST", path, { body: { metadata: { name: "odd" } } });
      await call("DELETE", `${path}/odd`, { body: '{"foo":' });
      await call("DELETE", `${path}/odd?dryRun=Some`);
      await call("DELETE", `${path}/odd`, { body: { dryRun: ["All"] } });
      await call("DELETE", `${path}/odd?gracePeriodSeconds=abc`);
      await call("DELETE", `${path}/odd`, { body: { gracePeriodSeconds: -5 } });
    },
  },
  {
    name: "deletecollection",
    run: async ({ call, quietly }) => {
      const maps = "/api/v1/namespaces/collection/configmaps";
      await quietly("POST", "/api/v1/namespaces", { body: { metadata: { name: "collection" } } });
      for (const name of ["a", "b", "c"]) {
        await quietly("POST", maps, {
          body: { metadata: { name, labels: { name }, ...(name === "c" ? { finalizers: ["x.y/z"] } : {}) } },
        });
      }
      await call("DELETE", `${maps}?dryRun=All`);
      await call("DELETE", `${maps}?labelSelector=name%3Da`);
      await call("DELETE", maps);
      await call("GET", maps);
      await call("DELETE", maps);
      await call("DELETE", "/api/v1/configmaps");
      await call("DELETE", "/api/v1/namespaces");
      await quietly("PATCH", `${maps}/c`, { contentType: merge, body: { metadata: { finalizers: null } } });
    },
  },
];
