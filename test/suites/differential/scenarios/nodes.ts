import { type Scenario, jsonPatch, merge, strategic, table } from "../scenario.ts";
import { isRecord } from "../value.ts";

const path = "/api/v1/nodes";

const quantities = [
  "0",
  "1",
  "+1",
  "1000m",
  "1500m",
  "0.5",
  ".5",
  "5.",
  "5000",
  "1000k",
  "1024",
  "1024Ki",
  "1000Ki",
  "16384Mi",
  "1.5Gi",
  "0.5Ki",
  "1e3",
  "1E3",
  "12e-1",
  "100e-3",
  "1n",
  "0.1n",
  "2E",
  "1.0000000001",
  "123456789012345678901",
  "0.001Ki",
  12,
  1.5,
];

export const nodeScenarios: readonly Scenario[] = [
  {
    name: "node: create, get, replace, delete",
    run: async ({ call }) => {
      await call("POST", path, { body: { metadata: { name: "node-crud", labels: { a: "b" } } } });
      await call("POST", path, { body: { metadata: { name: "node-crud" } } });
      await call("GET", `${path}/node-crud`);
      await call("GET", `${path}/node-crud/status`);
      const { body } = await call("PUT", `${path}/node-crud`, {
        body: { metadata: { name: "node-crud", labels: { a: "c" } } },
      });
      await call("PUT", `${path}/node-crud`, { body });
      await call("PUT", `${path}/node-crud`, { body: { metadata: { name: "node-crud", resourceVersion: "1" } } });
      await call("PUT", `${path}/node-crud`, { body: { metadata: { name: "other" } } });
      await call("PUT", `${path}/node-crud`, { body: { metadata: {} } });
      await call("PUT", `${path}/node-missing`, { body: { metadata: { name: "node-missing" } } });
      await call("DELETE", `${path}/node-crud?dryRun=All`);
      await call("DELETE", `${path}/node-crud`);
      await call("DELETE", `${path}/node-crud`);
      await call("GET", `${path}/node-crud`);
    },
  },
  {
    name: "node: everything set at creation is kept, quantities and times in canonical form",
    run: async ({ call }) => {
      await call("POST", path, {
        body: {
          kind: "Node",
          apiVersion: "v1",
          metadata: {
            name: "node-full",
            uid: "00000000-1111-4222-8333-444444444444",
            resourceVersion: "",
            generation: 7,
            creationTimestamp: "2020-01-01T00:00:00Z",
            deletionTimestamp: "2020-01-01T00:00:00Z",
            annotations: { "a.b/c": "d" },
            labels: {},
            finalizers: [],
          },
          spec: {
            podCIDR: "10.0.0.0/24",
            providerID: "sim://1",
            unschedulable: true,
            taints: [{ key: "k", value: "v", effect: "NoExecute", timeAdded: "2026-01-01T01:00:00+01:00" }],
          },
          status: {
            capacity: {
              cpu: "1000m",
              memory: "2048Mi",
              pods: 110,
              "ephemeral-storage": "1.5Gi",
              "example.com/x": "1e3",
            },
            conditions: [
              {
                type: "Ready",
                status: "True",
                lastHeartbeatTime: "2026-01-01T00:00:00.5Z",
                lastTransitionTime: null,
              },
            ],
            addresses: [
              { type: "InternalIP", address: "10.0.0.1" },
              { type: "Hostname", address: "node-full" },
            ],
            nodeInfo: { kubeletVersion: "v1.36.3", architecture: "amd64" },
            daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
          },
        },
      });
      await call("GET", path + "/node-full", { accept: table });
    },
  },
  {
    name: "node: quantities",
    run: async ({ call }) => {
      for (const [index, cpu] of quantities.entries()) {
        await call("POST", path, { body: { metadata: { name: `quantity-${index}` }, status: { capacity: { cpu } } } });
      }
      const create = (name: string, capacity: object) =>
        call("POST", path, { body: { metadata: { name }, status: { capacity } } });
      await create("negative", { cpu: "-1", memory: "-1Gi" });
      await create("parts", { pods: "1500m", "example.com/gpu": "0.5", "ephemeral-storage": "0.5" });
      await create("no-quantity", { cpu: "lots" });
    },
  },
  {
    name: "node: status and spec are written apart, metadata by both",
    run: async ({ call }) => {
      const node = `${path}/node-status`;
      await call("POST", path, { body: { metadata: { name: "node-status" }, spec: { providerID: "sim://2" } } });
      const status = { addresses: [{ type: "InternalIP", address: "10.0.0.2" }] };
      await call("PATCH", `${node}/status`, {
        contentType: merge,
        body: {
          metadata: { labels: { by: "status" }, annotations: { by: "status" } },
          spec: { unschedulable: true },
          status,
        },
      });
      await call("PATCH", node, {
        contentType: merge,
        body: { spec: { unschedulable: true }, status: { addresses: null } },
      });
      const { body } = await call("GET", node);
      await call("PUT", `${node}/status`, { body: isRecord(body) ? { ...body, status: { phase: "Running" } } : body });
      await call("PUT", `${node}/status`, { body: { metadata: { name: "node-status" }, status: {} } });
      await call("POST", `${node}/status`, { body: {} });
      await call("DELETE", `${node}/status`);
      await call("GET", `${node}/nothing`);
      await call("PATCH", `${path}/node-missing/status`, { contentType: merge, body: {} });
    },
  },
  {
    name: "node: what may not change",
    run: async ({ call }) => {
      const node = `${path}/node-fixed`;
      await call("POST", path, {
        body: {
          metadata: { name: "node-fixed" },
          spec: { providerID: "sim://3", podCIDRs: ["10.0.1.0/24", "fd00::/64"] },
        },
      });
      const change = (body: object) => call("PATCH", node, { contentType: merge, body });
      await change({ spec: { providerID: "sim://4" } });
      await change({ spec: { providerID: null } });
      await change({ spec: { podCIDRs: ["10.0.2.0/24"], podCIDR: "10.0.2.0/24" } });
      await change({ spec: { podCIDRs: null, podCIDR: null } });
      await change({ spec: { externalID: "x" } });
      await change({ metadata: { uid: "00000000-1111-4222-8333-444444444444" } });
      await change({ metadata: { name: "other" } });
      await change({ metadata: { resourceVersion: "1" } });
      await change({
        metadata: {
          creationTimestamp: "2020-01-01T00:00:00Z",
          generation: 9,
          deletionTimestamp: "2020-01-01T00:00:00Z",
        },
      });
      await change({ kind: "Pod" });
      await change({ apiVersion: "v2" });
      await call("PATCH", node, { contentType: strategic, body: { kind: "Pod" } });
      await call("PATCH", node, { contentType: strategic, body: { apiVersion: "v2" } });
    },
  },
  {
    name: "node: refused values",
    run: async ({ call }) => {
      const create = (body: unknown) => call("POST", path, { body });
      await create({
        metadata: { name: "N_1", labels: { "a b": "x y" }, annotations: { "a/b/c": "" }, finalizers: ["x"] },
      });
      await create({ metadata: { name: "x".repeat(254) } });
      await create({ metadata: {} });
      await create({ metadata: { name: "node-spaced", namespace: "default" } });
      // One a request: the real server reports labels in no order.
      for (const labels of [
        { "": "x" },
        { "/a": "x" },
        { "A/b": "x" },
        { "a/b/c": "x" },
        { ["a".repeat(64)]: "b".repeat(64) },
      ]) {
        await create({ metadata: { name: "node-bad", labels } });
      }
      await create({
        metadata: { name: "node-bad" },
        spec: { taints: [{ key: "a" }, { key: "a" }, { key: "b c", value: "-", effect: "No" }] },
      });
      await create({ metadata: { name: "node-bad" }, spec: { podCIDRs: ["10.0.0.1/24"] } });
      await create({ metadata: { name: "node-bad" }, spec: { podCIDRs: ["x"] } });
      await create({ metadata: { name: "node-bad" }, spec: { podCIDRs: ["10.0.0.0/33"] } });
      await create({ metadata: { name: "node-bad" }, spec: { podCIDRs: ["10.0.0.0/24", "10.0.1.0/24"] } });
      await create({
        metadata: { name: "node-bad", ownerReferences: [{ apiVersion: "", kind: "", name: "", uid: "" }] },
      });
      await create({ metadata: { name: 5 } });
      await create({ metadata: { name: "node-bad" }, spec: { unschedulable: "yes" } });
      await create({ metadata: { name: "node-bad" }, spec: { taints: {} } });
      await create({ metadata: { name: "node-bad" }, status: { capacity: { cpu: "lots" } } });
      await create([]);
      await create("not json");
      await create("");
      await create({ kind: "Pod", apiVersion: "v1", metadata: { name: "node-bad" } });
      await create({ kind: "Node", apiVersion: "v2", metadata: { name: "node-bad" } });
      await call("POST", path, { body: "{}", contentType: "text/plain" });
    },
  },
  {
    name: "node: addresses may not repeat in an update",
    run: async ({ call }) => {
      await call("POST", path, { body: { metadata: { name: "node-addresses" } } });
      const address = { type: "InternalIP", address: "10.0.0.9" };
      await call("PATCH", `${path}/node-addresses/status`, {
        contentType: merge,
        body: { status: { addresses: [address, address] } },
      });
      await call("PATCH", `${path}/node-addresses/status`, {
        contentType: merge,
        body: { status: { addresses: [address, { type: "ExternalIP", address: "10.0.0.9" }] } },
      });
    },
  },
  {
    name: "node: unknown fields are dropped with a warning, or refused",
    run: async ({ call }) => {
      const body = {
        metadata: { name: "node-unknown", bogus: 1 },
        spec: { foo: 1, taints: [{ key: "a", effect: "NoSchedule", bar: 2 }] },
        top: {},
      };
      await call("POST", `${path}?dryRun=All&fieldValidation=Strict`, { body });
      await call("POST", `${path}?dryRun=All&fieldValidation=Warn`, { body });
      await call("POST", `${path}?dryRun=All&fieldValidation=Ignore`, { body });
      await call("POST", `${path}?dryRun=All`, { body });
      await call("POST", `${path}?dryRun=All&fieldValidation=Bogus`, { body });
      await call("POST", `${path}?dryRun=Some`, { body });
      await call("POST", path, { body: { metadata: { name: "node-unknown" } } });
      for (const contentType of [merge, strategic]) {
        await call("PATCH", `${path}/node-unknown`, { contentType, body: { spec: { foo: 1 } } });
        await call("PATCH", `${path}/node-unknown?fieldValidation=Strict`, { contentType, body: { spec: { foo: 1 } } });
        await call("PATCH", `${path}/node-unknown?fieldValidation=Ignore`, { contentType, body: { spec: { foo: 1 } } });
      }
      await call("PATCH", `${path}/node-unknown`, { contentType: merge, body: { spec: { taints: 5 } } });
      await call("PATCH", `${path}/node-unknown`, {
        contentType: jsonPatch,
        body: [{ op: "add", path: "/spec/foo", value: 1 }],
      });
      await call("PUT", `${path}/node-unknown?fieldValidation=Strict`, {
        body: { metadata: { name: "node-unknown" }, spec: { foo: 1 } },
      });
    },
  },
];
