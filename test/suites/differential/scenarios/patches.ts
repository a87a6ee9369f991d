import type { Recorder } from "../recorder.ts";
import { type Scenario, jsonPatch, merge, strategic } from "../scenario.ts";

const nodes = "/api/v1/nodes";
const services = "/api/v1/namespaces/default/services";

const taint = (key: string, value?: string) => ({
  key,
  effect: "NoSchedule",
  ...(value === undefined ? {} : { value }),
});
const address = (type: string, text: string) => ({ type, address: text });
const condition = (type: string, status: string) => ({ type, status, reason: "R" });

async function createNode({ call }: Recorder, name: string): Promise<void> {
  await call("POST", nodes, {
    body: {
      metadata: {
        name,
        labels: { a: "1", b: "2" },
        annotations: { x: "y" },
        finalizers: ["a.b/one", "a.b/two", "a.b/three"],
      },
      spec: { taints: [taint("one", "1"), taint("two")] },
      status: {
        addresses: [address("InternalIP", "10.0.0.1"), address("InternalIP", "10.0.0.2"), address("Hostname", "h")],
        conditions: [condition("Ready", "True"), condition("DiskPressure", "False")],
        capacity: { cpu: "1", memory: "1Gi" },
      },
    },
  });
}

/** One patch a row: each is applied to a node of its own. */
const strategicPatches: readonly (readonly [string, object])[] = [
  ["labels-joined", { metadata: { labels: { a: "9", c: "3" } } }],
  ["labels-removed", { metadata: { labels: { a: null } } }],
  ["labels-replaced", { metadata: { labels: { $patch: "replace", z: "26" } } }],
  ["labels-deleted", { metadata: { labels: { $patch: "delete" } } }],
  ["labels-all-null", { metadata: { labels: null } }],
  ["finalizer-added", { metadata: { finalizers: ["c.d/four"] } }],
  ["finalizer-twice", { metadata: { finalizers: ["a.b/two", "c.d/four"] } }],
  ["finalizer-deleted-from-nothing", { metadata: { $deleteFromPrimitiveList: null } }],
  ["finalizer-deleted", { metadata: { "$deleteFromPrimitiveList/finalizers": ["a.b/two"] } }],
  [
    "finalizer-ordered",
    {
      metadata: {
        "$setElementOrder/finalizers": ["a.b/three", "c.d/four", "a.b/one"],
        "$deleteFromPrimitiveList/finalizers": ["a.b/two"],
        finalizers: ["c.d/four"],
      },
    },
  ],
  ["taints-replaced", { spec: { taints: [taint("three")] } }],
  ["taints-null", { spec: { taints: null } }],
  // An element order for a list without merge key makes the real server panic, so it cannot be compared.
  ["replace-directive-in-atomic-list", { spec: { taints: [{ $patch: "replace" }, taint("three")] } }],
  ["spec-replaced", { spec: { $patch: "replace", unschedulable: true } }],
];

const strategicStatusPatches: readonly (readonly [string, object])[] = [
  ["address-joined", { status: { addresses: [address("InternalIP", "10.0.0.9")] } }],
  ["address-added", { status: { addresses: [address("ExternalIP", "1.2.3.4")] } }],
  ["address-deleted", { status: { addresses: [{ $patch: "delete", type: "InternalIP" }] } }],
  [
    "addresses-replaced",
    {
      status: {
        addresses: [{ $patch: "replace" }, address("ExternalIP", "1.2.3.4"), address("ExternalIP", "1.2.3.5")],
      },
    },
  ],
  ["addresses-replace-last", { status: { addresses: [address("ExternalIP", "1.2.3.4"), { $patch: "replace" }] } }],
  [
    "addresses-ordered",
    {
      status: {
        "$setElementOrder/addresses": [{ type: "Hostname" }, { type: "InternalIP" }],
        addresses: [address("Hostname", "new")],
      },
    },
  ],
  ["no-merge-key", { status: { addresses: [{ address: "10.0.0.9" }] } }],
  ["unknown-directive", { status: { addresses: [{ $patch: "bogus", type: "Hostname" }] } }],
  ["condition-joined", { status: { conditions: [{ type: "Ready", status: "False" }] } }],
  ["condition-added", { status: { conditions: [condition("NetworkUnavailable", "True")] } }],
  ["condition-field-null", { status: { conditions: [{ type: "Ready", reason: null }] } }],
  ["capacity-joined", { status: { capacity: { cpu: "2", memory: null } } }],
  [
    "order-mismatch",
    { status: { "$setElementOrder/addresses": [{ type: "Hostname" }], addresses: [address("ExternalIP", "1.1.1.1")] } },
  ],
];

const mergePatches: readonly (readonly [string, unknown])[] = [
  ["labels", { metadata: { labels: { a: null, c: "3" } } }],
  ["list", { spec: { taints: [taint("three")] } }],
  ["finalizers-null", { metadata: { finalizers: null } }],
  ["empty", {}],
  ["list-as-patch", []],
  ["scalar-as-patch", 5],
  ["broken", "{bad"],
  ["status-ignored", { status: { phase: "Running" } }],
];

const jsonPatches: readonly (readonly [string, unknown])[] = [
  ["add", [{ op: "add", path: "/metadata/labels/c", value: "3" }]],
  ["add-escaped", [{ op: "add", path: "/metadata/labels/a.b~1c", value: "3" }]],
  ["add-to-list", [{ op: "add", path: "/spec/taints/0", value: taint("zero") }]],
  ["append", [{ op: "add", path: "/spec/taints/-", value: taint("last") }]],
  ["remove", [{ op: "remove", path: "/spec/taints/0" }]],
  ["remove-missing", [{ op: "remove", path: "/metadata/labels/zz" }]],
  ["replace", [{ op: "replace", path: "/metadata/labels/a", value: "9" }]],
  ["replace-missing", [{ op: "replace", path: "/metadata/labels/zz", value: "9" }]],
  ["move", [{ op: "move", from: "/metadata/labels/a", path: "/metadata/labels/moved" }]],
  ["copy", [{ op: "copy", from: "/metadata/labels/a", path: "/metadata/labels/copied" }]],
  [
    "test-true",
    [
      { op: "test", path: "/metadata/labels/a", value: "1" },
      { op: "add", path: "/spec/unschedulable", value: true },
    ],
  ],
  [
    "test-false",
    [
      { op: "test", path: "/metadata/labels/a", value: "2" },
      { op: "add", path: "/spec/unschedulable", value: true },
    ],
  ],
  ["copy-missing", [{ op: "copy", from: "/metadata/labels/zz", path: "/metadata/labels/copied" }]],
  ["move-missing", [{ op: "move", from: "/metadata/labels/zz", path: "/metadata/labels/moved" }]],
  ["replace-out-of-range", [{ op: "replace", path: "/spec/taints/9", value: taint("nine") }]],
  ["negative-index", [{ op: "remove", path: "/spec/taints/-1" }]],
  ["test-missing", [{ op: "test", path: "/metadata/labels/zz", value: "2" }]],
  ["out-of-range", [{ op: "add", path: "/spec/taints/9", value: taint("nine") }]],
  ["missing-parent", [{ op: "add", path: "/spec/nothing/a", value: 1 }]],
  ["unknown-op", [{ op: "frobnicate", path: "/spec" }]],
  ["object-as-patch", { op: "add" }],
  ["empty", []],
  ["broken", "[{"],
];

export const patchScenarios: readonly Scenario[] = [
  {
    name: "strategic merge patch of metadata and spec",
    run: async (recorder) => {
      for (const [name, body] of strategicPatches) {
        await createNode(recorder, `smp-${name}`);
        await recorder.call("PATCH", `${nodes}/smp-${name}`, { contentType: strategic, body });
      }
    },
  },
  {
    name: "strategic merge patch of status",
    run: async (recorder) => {
      for (const [name, body] of strategicStatusPatches) {
        await createNode(recorder, `smps-${name}`);
        await recorder.call("PATCH", `${nodes}/smps-${name}/status`, { contentType: strategic, body });
      }
    },
  },
  {
    name: "merge patch",
    run: async (recorder) => {
      for (const [name, body] of mergePatches) {
        await createNode(recorder, `mp-${name}`);
        await recorder.call("PATCH", `${nodes}/mp-${name}`, { contentType: merge, body });
      }
    },
  },
  {
    name: "JSON patch",
    run: async (recorder) => {
      for (const [name, body] of jsonPatches) {
        await createNode(recorder, `jp-${name}`);
        await recorder.call("PATCH", `${nodes}/jp-${name}`, { contentType: jsonPatch, body });
      }
    },
  },
  {
    name: "patches of service ports, keyed by number",
    run: async ({ call }) => {
      const service = `${services}/ports`;
      const port = (name: string, number: number, protocol = "TCP") => ({ name, port: number, protocol });
      await call("POST", services, {
        body: {
          metadata: { name: "ports" },
          spec: { ports: [port("a", 80), port("b", 443), port("c", 53), port("d", 53, "UDP")] },
        },
      });
      const patch = (spec: object) => call("PATCH", service, { contentType: strategic, body: { spec } });
      await patch({ ports: [{ port: 80, targetPort: 8080 }] });
      await patch({ ports: [port("e", 81)] });
      await patch({ ports: [{ $patch: "delete", port: 443 }] });
      await patch({ ports: [{ port: 53, targetPort: 5353 }] });
      await patch({ "$setElementOrder/ports": [{ port: 81 }, { port: 80 }], ports: [{ port: 81, targetPort: 8181 }] });
      await patch({ ports: [{ $patch: "replace" }, port("only", 90)] });
      await patch({ selector: { app: "x" } });
      await patch({ selector: { $patch: "replace", tier: "y" } });
    },
  },
  {
    name: "patch requests that make no sense",
    run: async (recorder) => {
      const { call } = recorder;
      await createNode(recorder, "patch-odd");
      await call("PATCH", `${nodes}/patch-odd`, { contentType: "application/json", body: {} });
      await call("PATCH", `${nodes}/patch-odd`, { contentType: strategic, body: [] });
      await call("PATCH", `${nodes}/patch-odd`, { contentType: strategic, body: "{bad" });
      await call("PATCH", `${nodes}/patch-missing`, { contentType: merge, body: {} });
      await call("PATCH", nodes, { contentType: merge, body: {} });
      await call("PATCH", `${nodes}/patch-odd?dryRun=All`, {
        contentType: merge,
        body: { metadata: { labels: { dry: "run" } } },
      });
      await call("GET", `${nodes}/patch-odd`);
    },
  },
];
