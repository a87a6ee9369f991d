import type { Recorder } from "../recorder.ts";
import { type Scenario, merge, strategic, table } from "../scenario.ts";
import { isRecord, valueAt } from "../value.ts";

const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
const slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const maps = "/api/v1/namespaces/default/configmaps";
const volumes = "/api/v1/persistentvolumes";
const namespaces = "/api/v1/namespaces";
const pods = "/api/v1/namespaces/default/pods";

export const smallKindScenarios: readonly Scenario[] = [
  // One a scenario: the order in which a server makes them is no one's business.
  ...["default", "kube-system", "kube-public", "kube-node-lease"].map((name) => ({
    name: `namespace ${name} is there from the start`,
    run: async ({ call }: Recorder) => {
      await call("GET", `${namespaces}/${name}`);
    },
  })),
  {
    name: "lease: acquire, renew, conflict, release",
    run: async ({ call }) => {
      const spec = {
        holderIdentity: "a",
        leaseDurationSeconds: 15,
        acquireTime: "2026-01-01T00:00:00.000001Z",
        renewTime: "2026-01-01T01:00:00.120000+01:00",
        leaseTransitions: 0,
      };
      const created = await call("POST", leases, { body: { metadata: { name: "leader" }, spec } });
      const renewed = await call("PUT", `${leases}/leader`, { body: leasedBy(created.body, "b") });
      await call("PUT", `${leases}/leader`, { body: leasedBy(created.body, "c") });
      await call("PUT", `${leases}/leader`, { body: leasedBy(renewed.body, "") });
      await call("PUT", `${leases}/leader`, { body: { metadata: { name: "leader" }, spec } });
      await call("PUT", `${leases}/put-lease`, { body: { metadata: { name: "put-lease" }, spec } });
      await call("PATCH", `${leases}/leader`, { contentType: merge, body: { spec: { leaseTransitions: 1 } } });
      await call("PATCH", `${leases}/leader`, { contentType: strategic, body: { spec: { leaseTransitions: null } } });
      await call("POST", leases, {
        body: { metadata: { name: "bad" }, spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } },
      });
      await call("POST", leases, { body: { metadata: { name: "BAD", finalizers: ["plain"] }, spec: {} } });
      await call("POST", leases, { body: { metadata: { name: "bad" }, spec: { renewTime: "yesterday" } } });
      await call("POST", leases, {
        body: {
          metadata: { name: "fractions" },
          spec: { renewTime: "2026-01-01T01:00:00.123456Z", strategy: "OldestEmulationVersion" },
        },
      });
      for (const renewTime of ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.12Z", "2026-01-01T00:00:00.1234567Z"]) {
        await call("POST", leases, { body: { metadata: { name: "bad" }, spec: { renewTime } } });
      }
      await call("GET", `${leases}/leader`, { accept: table });
      await call("GET", `${leases}?fieldSelector=metadata.name%3Dleader`);
      await call("GET", `${leases}?fieldSelector=spec.holderIdentity%3Da`);
      await call("DELETE", `${leases}/leader`);
    },
  },
  {
    name: "endpoint slice",
    run: async ({ call }) => {
      const create = (body: object) => call("POST", slices, { body });
      await create({
        metadata: { name: "slice", labels: { "kubernetes.io/service-name": "x" } },
        addressType: "IPv4",
        endpoints: [
          { addresses: ["10.0.0.1", "10.0.0.2"], conditions: { ready: true }, nodeName: "n1", zone: "z" },
          { addresses: ["10.0.0.3", "10.0.0.4"] },
        ],
        ports: [{ port: 80 }, { name: "b", port: 81, protocol: "UDP" }],
      });
      await call("GET", `${slices}/slice`, { accept: table });
      await call("PATCH", `${slices}/slice`, { contentType: merge, body: { metadata: { labels: { a: "b" } } } });
      await call("PATCH", `${slices}/slice`, { contentType: merge, body: { metadata: { annotations: { a: "b" } } } });
      await call("PATCH", `${slices}/slice`, { contentType: merge, body: { endpoints: [] } });
      await call("PATCH", `${slices}/slice`, { contentType: merge, body: { addressType: "IPv6" } });
      await create({ metadata: { name: "empty" }, addressType: "IPv4" });
      await call("GET", `${slices}/empty`, { accept: table });
      await create({ metadata: { name: "bad" } });
      await create({ metadata: { name: "bad" }, addressType: "IPX" });
      await create({ metadata: { name: "bad" }, addressType: "IPv4", endpoints: [{ addresses: [] }] });
      await create({
        metadata: { name: "bad" },
        addressType: "IPv4",
        endpoints: [{ addresses: ["x"] }, { addresses: ["fd00::1"], nodeName: "_", hostname: "A" }],
      });
      await create({
        metadata: { name: "bad" },
        addressType: "IPv4",
        ports: [{ name: "A_" }, { name: "b", protocol: "X" }, { name: "b", appProtocol: "a b" }],
      });
      await create({
        metadata: { generateName: "generated-" },
        addressType: "IPv6",
        endpoints: [{ addresses: ["fd00::1"] }],
      });
    },
  },
  {
    name: "config map",
    run: async ({ call }) => {
      const create = (body: object) => call("POST", maps, { body });
      await create({
        metadata: { name: "cm", annotations: { a: "" } },
        data: { b: "2", a: "1" },
        binaryData: { c: "AAEC" },
      });
      await call("GET", `${maps}/cm`, { accept: table });
      await call("PATCH", `${maps}/cm`, { contentType: merge, body: { data: { a: null } } });
      await call("PATCH", `${maps}/cm`, { contentType: strategic, body: { data: { $patch: "replace", z: "26" } } });
      await call("PATCH", `${maps}/cm`, { contentType: merge, body: { immutable: true } });
      await call("PATCH", `${maps}/cm`, { contentType: merge, body: { data: { a: "x" } } });
      await call("PATCH", `${maps}/cm`, { contentType: merge, body: { immutable: null } });
      await create({ metadata: { name: "bad" }, data: { "a b": "1" } });
      await create({ metadata: { name: "bad" }, data: { "..": "1" } });
      await create({ metadata: { name: "bad" }, data: { "..a": "1" } });
      await create({ metadata: { name: "bad" }, data: { a: "1" }, binaryData: { a: "AA==" } });
      await create({ metadata: { name: "bad" }, binaryData: { a: "no base64!" } });
      await create({ metadata: { name: "bad" }, data: { a: "x".repeat(1024 * 1024 + 1) } });
      await create({ metadata: { name: "bad", annotations: { a: "x".repeat(256 * 1024) } } });
      await create({ metadata: { name: "bad", annotations: { "A/B": "" } } });
      await create({ metadata: { generateName: "generated-" } });
      await create({ metadata: { generateName: "Generated_" } });
      await create({
        metadata: {
          name: "owned",
          ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n", uid: "u", controller: true }],
        },
      });
      await create({
        metadata: {
          name: "bad",
          ownerReferences: ["a", "b"].map((name) => ({
            apiVersion: "v1",
            kind: "Node",
            name,
            uid: name,
            controller: true,
          })),
        },
      });
    },
  },
  {
    name: "persistent volume",
    run: async ({ call }) => {
      const spec = {
        capacity: { storage: "10Gi" },
        accessModes: ["ReadWriteOnce", "ReadOnlyMany"],
        csi: { driver: "d", volumeHandle: "h" },
      };
      const create = (name: string, change: object) =>
        call("POST", volumes, { body: { metadata: { name }, spec: { ...spec, ...change } } });
      await create("pv", { storageClassName: "fast" });
      await call("GET", `${volumes}/pv`, { accept: table });
      await call("PATCH", `${volumes}/pv`, {
        contentType: merge,
        body: { metadata: { labels: { "topology.kubernetes.io/zone": "z" } } },
      });
      await call("PATCH", `${volumes}/pv`, { contentType: merge, body: { spec: { csi: { volumeHandle: "other" } } } });
      await call("PATCH", `${volumes}/pv`, { contentType: merge, body: { spec: { volumeMode: "Block" } } });
      await call("PATCH", `${volumes}/pv/status`, {
        contentType: merge,
        body: { status: { phase: "Available" }, spec: { storageClassName: "slow" } },
      });
      await call("PATCH", `${volumes}/pv`, { contentType: merge, body: { status: { phase: "Bound" } } });
      await call("PATCH", `${volumes}/pv`, {
        contentType: merge,
        body: { spec: { claimRef: { namespace: "default", name: "claim" } } },
      });
      await call("GET", `${volumes}/pv`, { accept: table });
      await create("bad", { accessModes: [] });
      await create("bad", { accessModes: ["Sometimes"] });
      await create("bad", { capacity: undefined });
      await create("bad", { capacity: { cpu: "1" } });
      await create("bad", { csi: undefined });
      await create("bad", { persistentVolumeReclaimPolicy: "Maybe" });
      await create("bad", { volumeMode: "Odd" });
      await call("GET", `${volumes}?fieldSelector=metadata.name%3Dpv`);
      await call("GET", `${volumes}?fieldSelector=spec.x%3Dpv`);
      await call("DELETE", `${volumes}/pv`);
      await call("GET", `${volumes}/pv`, { accept: table });
      await call("PATCH", `${volumes}/pv`, { contentType: merge, body: { metadata: { finalizers: null } } });
    },
  },
  {
    name: "namespace",
    run: async ({ call }) => {
      await call("POST", namespaces, {
        body: {
          metadata: { name: "space", labels: { a: "b" } },
          spec: { finalizers: ["a.b/c"] },
          status: { phase: "Terminating" },
        },
      });
      await call("POST", namespaces, { body: { metadata: { generateName: "generated-" } } });
      await call("POST", namespaces, { body: { metadata: { name: "a.b" } } });
      await call("PATCH", `${namespaces}/space`, {
        contentType: merge,
        body: { metadata: { labels: null }, spec: { finalizers: [] } },
      });
      await call("PATCH", `${namespaces}/space/status`, {
        contentType: merge,
        body: { status: { phase: "Terminating" } },
      });
      await call("GET", `${namespaces}/space`, { accept: table });
      await call("GET", `${namespaces}?fieldSelector=status.phase%3DActive,metadata.name%3Dspace`);
      await call("POST", "/api/v1/namespaces/space/configmaps", { body: { metadata: { name: "inside" } } });
      await call("POST", "/api/v1/namespaces/nowhere/configmaps", { body: { metadata: { name: "inside" } } });
      await call("DELETE", `${namespaces}/space`);
      await call("DELETE", `${namespaces}/space`);
      await call("POST", "/api/v1/namespaces/space/configmaps", { body: { metadata: { name: "late" } } });
      await call("POST", "/api/v1/namespaces/space/configmaps", { body: { metadata: { generateName: "late-" } } });
      await call("PATCH", "/api/v1/namespaces/space/configmaps/inside", {
        contentType: merge,
        body: { data: { a: "b" } },
      });
      await call("POST", namespaces, { body: { metadata: { name: "space" } } });
      await call("PUT", `${namespaces}/space/finalize`, {
        body: { metadata: { name: "space" }, spec: { finalizers: [] } },
      });
      await call("GET", `${namespaces}/space`);
      for (const name of ["default", "kube-system", "kube-public"]) await call("DELETE", `${namespaces}/${name}`);
      await call("DELETE", `${namespaces}/missing`);
    },
  },
  {
    name: "pod",
    run: async ({ call }) => {
      const containers = [
        { name: "c", image: "nginx" },
        { name: "d", image: "nginx:1.2" },
      ];
      const create = (name: string, spec: object) => call("POST", pods, { body: { metadata: { name }, spec } });
      await create("pod", { containers });
      await create("placed", { containers, nodeName: "some-node", terminationGracePeriodSeconds: 7 });
      await create("bad", {});
      await create("bad", { containers: [{}] });
      await call("GET", `${pods}/pod`, { accept: table });
      await call(
        "GET",
        "/api/v1/pods?fieldSelector=spec.nodeName%3Dsome-node,status.phase!%3DSucceeded,status.phase!%3DFailed",
      );
      await call("PATCH", `${pods}/placed/status`, {
        contentType: merge,
        body: {
          status: {
            phase: "Running",
            containerStatuses: [{ name: "c", ready: true, restartCount: 0, image: "", imageID: "" }],
          },
        },
      });
      await call("GET", `${pods}/placed`, { accept: table });
      await call("DELETE", `${pods}/pod`);
      await call("DELETE", `${pods}/placed`);
      await call("DELETE", `${pods}/placed`, { body: { gracePeriodSeconds: 3 } });
      await call("DELETE", `${pods}/placed`, { body: { gracePeriodSeconds: 30 } });
      await call("DELETE", `${pods}/placed?gracePeriodSeconds=0`);
      await call("GET", `${pods}/placed`);
    },
  },
];

function leasedBy(lease: unknown, holderIdentity: string): unknown {
  const spec = valueAt(lease, "spec");
  return isRecord(lease) && isRecord(spec) ? { ...lease, spec: { ...spec, holderIdentity } } : lease;
}
