import { type Scenario, jsonPatch, merge, strategic, table } from "../scenario.ts";

interface KindUnderTest {
  readonly path: string;
  /** Everything besides metadata that a smallest object needs. */
  readonly body: object;
  readonly subresources?: readonly string[];
}

const inDefault = "namespaces/default";

/** Every stored kind with its path; reviews have scenarios of their own. */
const kinds: readonly KindUnderTest[] = [
  { path: "/api/v1/nodes", body: {}, subresources: ["status"] },
  { path: `/api/v1/${inDefault}/services`, body: { spec: { ports: [{ port: 80 }] } }, subresources: ["status"] },
  { path: `/api/v1/${inDefault}/events`, body: { involvedObject: { kind: "Node", name: "n" } } },
  {
    path: `/apis/events.k8s.io/v1/${inDefault}/events`,
    body: {
      eventTime: "2026-01-01T00:00:00.000000Z",
      reportingController: "a.b/c",
      reportingInstance: "i",
      action: "A",
      reason: "R",
      type: "Normal",
    },
  },
  { path: `/apis/coordination.k8s.io/v1/${inDefault}/leases`, body: { spec: { holderIdentity: "a" } } },
  {
    path: "/api/v1/persistentvolumes",
    body: { spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } } },
    subresources: ["status"],
  },
  { path: "/api/v1/namespaces", body: {}, subresources: ["status", "finalize"] },
  { path: `/api/v1/${inDefault}/configmaps`, body: { data: { a: "b" } } },
  { path: `/apis/discovery.k8s.io/v1/${inDefault}/endpointslices`, body: { addressType: "IPv4" } },
  {
    path: `/api/v1/${inDefault}/pods`,
    body: { spec: { containers: [{ name: "c", image: "i" }] } },
    subresources: ["status"],
  },
];

export const everyKindScenarios: readonly Scenario[] = kinds.map(({ path, body, subresources = [] }) => ({
  name: `every verb of ${path}`,
  run: async ({ call, watch }) => {
    const object = `${path}/every`;
    const selector = "labelSelector=every%3Dverb";
    const metadata = { name: "every", labels: { every: "verb" } };
    await call("POST", `${path}?dryRun=All`, { body: { ...body, metadata } });
    await call("GET", object);
    await call("POST", path, { body: { ...body, metadata } });
    await call("GET", object);
    await call("GET", object, { accept: table });
    await call("GET", `${path}?${selector}`);
    await call("GET", `${path}?${selector}`, { accept: table });
    await watch(`${path}?${selector}&watch=1&timeoutSeconds=1&allowWatchBookmarks=true`);
    await call("PATCH", object, { contentType: merge, body: { metadata: { annotations: { by: "merge" } } } });
    await call("PATCH", object, { contentType: strategic, body: { metadata: { finalizers: ["a.b/one"] } } });
    await call("PATCH", object, {
      contentType: strategic,
      body: { metadata: { "$deleteFromPrimitiveList/finalizers": ["a.b/one"] } },
    });
    await call("PATCH", object, {
      contentType: jsonPatch,
      body: [{ op: "add", path: "/metadata/labels/by", value: "json" }],
    });
    await call("PATCH", object, { contentType: "application/apply-patch+json", body: "" });
    const read = await call("GET", object);
    await call("PUT", object, { body: read.body });
    for (const subresource of subresources) {
      await call("GET", `${object}/${subresource}`);
      await call("PUT", `${object}/${subresource}`, { body: read.body });
      await call("PATCH", `${object}/${subresource}`, {
        contentType: merge,
        body: { metadata: { labels: { via: subresource } } },
      });
      await call("DELETE", `${object}/${subresource}`);
    }
    await call("DELETE", `${object}?dryRun=All`);
    await call("DELETE", `${path}?${selector}&dryRun=All`);
    await call("DELETE", `${path}?labelSelector=every%3Dnothing`);
    await call("DELETE", object);
    await call("GET", `${path}?${selector}`);
    await call("PATCH", object, { contentType: merge, body: {} });
    await call("PUT", object, { body: read.body });
  },
}));
