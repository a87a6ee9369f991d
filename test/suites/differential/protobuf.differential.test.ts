import { createProtobufTranslator, type JsonObject, startDevCluster } from "@cloudwire/devcluster";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, send } from "./client.ts";
import { type Pair, startPair } from "./clusters.ts";
import { skipReason } from "./differential.ts";
import { isRecord, valueAt, without } from "./value.ts";

const protobuf = "application/vnd.kubernetes.protobuf";
const translator = createProtobufTranslator();

interface Example {
  readonly path: string;
  readonly object: JsonObject;
}

/** An object of each kind with values in as many forms as the kind has: times, quantities, numbers or names, bytes, maps, inlined messages. */
const examples: readonly Example[] = [
  {
    path: "/api/v1/nodes",
    object: {
      apiVersion: "v1",
      kind: "Node",
      metadata: {
        name: "proto",
        labels: { a: "b", c: "d" },
        annotations: { e: "" },
        finalizers: ["a.b/c"],
        ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "u", controller: true }],
      },
      spec: {
        providerID: "sim://1",
        unschedulable: true,
        podCIDRs: ["10.0.0.0/24"],
        taints: [{ key: "k", value: "v", effect: "NoExecute", timeAdded: "2026-01-01T00:00:00Z" }],
      },
      status: {
        capacity: { cpu: "1500m", memory: "2Gi" },
        addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
        conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: "2026-01-01T00:00:00Z" }],
        daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
        images: [{ names: ["i"], sizeBytes: 5_000_000_000 }],
      },
    },
  },
  {
    path: "/api/v1/namespaces/default/services",
    object: {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "proto" },
      spec: {
        type: "LoadBalancer",
        selector: { app: "x" },
        sessionAffinity: "ClientIP",
        loadBalancerSourceRanges: ["10.0.0.0/8"],
        ports: [
          { name: "a", port: 80, targetPort: "http" },
          { name: "b", port: 81, targetPort: 8081, protocol: "UDP" },
        ],
      },
    },
  },
  {
    path: "/api/v1/namespaces/default/events",
    object: {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "proto" },
      involvedObject: { kind: "Node", name: "n" },
      count: 3,
      firstTimestamp: "2026-01-01T00:00:00Z",
      eventTime: "2026-01-01T00:00:00.123456Z",
      reportingComponent: "a.b/c",
      reportingInstance: "i",
      action: "A",
      reason: "R",
      series: { count: 2, lastObservedTime: "2026-01-01T00:00:01.000007Z" },
    },
  },
  {
    path: "/apis/coordination.k8s.io/v1/namespaces/default/leases",
    object: {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "proto" },
      spec: {
        holderIdentity: "",
        leaseDurationSeconds: 15,
        renewTime: "2026-01-01T00:00:00.000001Z",
        leaseTransitions: 0,
      },
    },
  },
  {
    path: "/api/v1/persistentvolumes",
    object: {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: "proto" },
      spec: {
        capacity: { storage: "10Gi" },
        accessModes: ["ReadWriteOnce"],
        csi: { driver: "d", volumeHandle: "h", volumeAttributes: { a: "b" } },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In", values: ["a", "b"] }] }],
          },
        },
      },
    },
  },
  {
    path: "/api/v1/namespaces/default/configmaps",
    object: {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "proto" },
      data: { text: "é\n" },
      binaryData: { raw: "AAEC/w==" },
      immutable: false,
    },
  },
  {
    path: "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
    object: {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: "proto" },
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.0.0.1"], conditions: { ready: true, serving: false }, nodeName: "n", zone: "z" }],
      ports: [{ name: "p", port: 80 }],
    },
  },
];

const reason = await skipReason("protobuf of devcluster and kube-apiserver");

describe.skipIf(reason !== undefined)("protobuf of devcluster and kube-apiserver", () => {
  let pair: Pair | undefined;
  beforeAll(async () => {
    pair = await startPair();
  });
  afterAll(async () => {
    await pair?.stop();
  });
  const real = (method: string, path: string, options?: Parameters<typeof send>[3]): Promise<Answer> => {
    if (pair === undefined) throw new Error("the clusters did not start");
    return send(pair.real, method, path, options);
  };

  test.each(examples)("reads what kube-apiserver writes for $path", async ({ path, object }) => {
    await real("POST", path, { body: object });
    const asJson = await real("GET", `${path}/proto`);
    const asProtobuf = await real("GET", `${path}/proto`, { accept: protobuf });
    const cluster = await startDevCluster();
    const seeded = cluster.seed(translator.toJson(bytesOf(asProtobuf)));
    await cluster.close();
    expect(comparable(seeded)).toEqual(comparable(asJson.body));
  });

  test.each(examples)("writes what kube-apiserver reads for $path", async ({ path, object }) => {
    const { metadata } = object;
    const renamed = { ...object, metadata: { ...(isRecord(metadata) ? metadata : {}), name: "proto-written" } };
    const body = translator.toProtobuf(renamed);
    const written = await real("POST", `${path}?dryRun=All`, { body, contentType: protobuf });
    const expected = await real("POST", `${path}?dryRun=All`, { body: renamed });
    expect([written.status, withoutAllocation(written.body)]).toEqual([201, withoutAllocation(expected.body)]);
  });

  test("reads a Status of kube-apiserver", async () => {
    const answer = await real("GET", "/api/v1/namespaces/missing/services/none", { accept: protobuf });
    const status = translator.toJson(bytesOf(answer));
    expect(status).toMatchObject({
      kind: "Status",
      code: 404,
      reason: "NotFound",
      details: { name: "none", kind: "services" },
    });
  });
});

function bytesOf({ contentType, body }: Answer): Uint8Array {
  expect(contentType).toBe(protobuf);
  if (body instanceof Uint8Array) return body;
  throw new Error("the answer is no protobuf");
}

/** Without what devcluster does not keep, and the version, which is each server's own. */
function comparable(object: unknown): unknown {
  const metadata = without(without(valueAt(object, "metadata"), "managedFields"), "resourceVersion");
  return isRecord(object) ? { ...object, metadata } : object;
}

/** Of two dry runs, each gets an identity, a time and addresses of its own. */
function withoutAllocation(object: unknown): unknown {
  const text = JSON.stringify(comparable(object));
  return JSON.parse(
    text
      .replaceAll(/"(uid|creationTimestamp|lastPhaseTransitionTime)":"[^"]+"/g, '"$1":""')
      .replaceAll(/10\.96\.\d+\.\d+/g, "10.96.0.0")
      .replaceAll(/"nodePort":\d+/g, '"nodePort":0'),
  );
}
