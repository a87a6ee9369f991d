import * as fc from "fast-check";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  type Node as WireNode,
  NodeList,
  type NodeStatus as WireNodeStatus,
  type Service as WireService,
  Service,
} from "../../../gen/cloudwire/kube/v1/kube.ts";
import type { KubeObject } from "../../api/meta.ts";
import { DecodeError } from "../../util/json.ts";
import {
  JSON_TYPE,
  PROTOBUF_TYPE,
  type Resource,
  decodeList,
  decodeObject,
  formatMicroTime,
  formatTime,
  readStatus,
} from "./codec.ts";
import { NODES } from "./node.ts";
import { SERVICES } from "./service.ts";
import { InterningReader, StringCache } from "../../util/string-cache.ts";

// Written by Kubernetes' own encoder: scripts/fixtures/main.go.
const fixture = (name: string): Uint8Array =>
  readFileSync(new URL(`../../../test/fixtures/kube/${name}`, import.meta.url));

const kinds: readonly { name: string; resource: Resource<KubeObject> }[] = [
  { name: "node-full", resource: NODES },
  { name: "node-empty", resource: NODES },
  { name: "service-full", resource: SERVICES },
  { name: "service-empty", resource: SERVICES },
];

describe("decodeObject()", () => {
  test.each(kinds)("reads $name to the same object from protobuf and JSON", ({ name, resource }) => {
    const strings = new StringCache();
    const fromProtobuf = decodeObject(resource, fixture(`${name}.pb`), PROTOBUF_TYPE, strings);
    const fromJson = decodeObject(resource, fixture(`${name}.json`), JSON_TYPE, strings);
    expect(fromProtobuf).toStrictEqual(fromJson);
  });

  test("reads every field of a Node that is used", () => {
    expect(decodeObject(NODES, fixture("node-full.pb"), PROTOBUF_TYPE, new StringCache())).toStrictEqual({
      metadata: {
        name: "ip-10-0-0-1.example",
        namespace: "",
        uid: "7b0f2f5e-6c2f-4a8e-9f57-1f0a2d3c4b5a",
        resourceVersion: "123456789",
        generation: 2 ** 40,
        creationTimestampMs: Date.UTC(2026, 10, 21, 11, 0, 0),
        deletionTimestampMs: Date.UTC(2026, 10, 21, 12, 30, 5),
        labels: { "kubernetes.io/os": "linux", "example.com/empty": "", "topology.kubernetes.io/zone": "eu-1a" },
        annotations: { note: "grüße, 世界 🌍", "alpha.kubernetes.io/provided-node-ip": "10.0.0.1" },
        finalizers: ["example.com/a", "example.com/b"],
      },
      spec: {
        podCIDR: "10.244.1.0/24",
        podCIDRs: ["10.244.1.0/24", "fd00:10:244:1::/64"],
        providerID: "example:///eu-1a/i-0abc",
        unschedulable: true,
        taints: [
          {
            key: "node.cloudprovider.kubernetes.io/uninitialized",
            value: "true",
            effect: "NoSchedule",
            timeAddedMs: undefined,
          },
          {
            key: "node.kubernetes.io/unreachable",
            value: "",
            effect: "NoExecute",
            timeAddedMs: Date.UTC(2026, 10, 21, 12, 30, 5),
          },
        ],
      },
      status: {
        conditions: [
          {
            type: "Ready",
            status: "True",
            lastTransitionTimeMs: Date.UTC(2026, 10, 21, 11, 0, 0),
            reason: "KubeletReady",
          },
          { type: "NetworkUnavailable", status: "False", lastTransitionTimeMs: 0, reason: "" },
        ],
        addresses: [
          { type: "InternalIP", address: "10.0.0.1" },
          { type: "Hostname", address: "ip-10-0-0-1" },
        ],
        nodeInfo: { systemUUID: "EC2A" },
      },
    });
  });

  test("reads pod CIDRs in canonical form (case V-2)", () => {
    const { spec } = NODES.fromJson({ spec: { podCIDRs: ["010.120.8.0/24", "FD00:0::/64", "rubbish"] } });
    expect(spec.podCIDRs).toEqual(["10.120.8.0/24", "fd00::/64", "rubbish"]);
  });

  test("reads the parts of a Service that are easy to get wrong", () => {
    const { spec, status } = decodeObject(SERVICES, fixture("service-full.pb"), PROTOBUF_TYPE, new StringCache());
    expect(spec.ports.map(({ targetPort, appProtocol }) => [targetPort, appProtocol])).toEqual([
      ["http", "http"],
      [5353, undefined],
    ]);
    expect(spec.allocateLoadBalancerNodePorts).toBe(false);
    expect(spec.sessionAffinityConfig).toEqual({ clientIP: { timeoutSeconds: 10_800 } });
    expect(spec.ipFamilyPolicy).toBe("PreferDualStack");
    expect(status.loadBalancer.ingress).toEqual([
      {
        ip: "198.51.100.9",
        hostname: "",
        ipMode: "VIP",
        ports: [
          { port: 80, protocol: "TCP", error: undefined },
          { port: 53, protocol: "UDP", error: "example.com/Boom" },
        ],
      },
      { ip: "", hostname: "lb.example", ipMode: undefined, ports: [] },
    ]);
    expect(status.conditions).toEqual([
      {
        type: "Programmed",
        status: "True",
        observedGeneration: 3,
        lastTransitionTimeMs: Date.UTC(2026, 10, 21, 12, 30, 5),
        reason: "Ok",
        message: "done",
      },
    ]);
  });

  test.each([
    { what: "an HTML page", body: "<html>", type: JSON_TYPE },
    { what: "another kind", body: '{"kind":"Pod"}', type: JSON_TYPE },
    { what: "a field of another type", body: '{"kind":"Node","metadata":{"name":1}}', type: JSON_TYPE },
    { what: "protobuf without its envelope", body: "xxxx", type: PROTOBUF_TYPE },
  ])("refuses $what", ({ body, type }) => {
    expect(() => decodeObject(NODES, Buffer.from(body), type, new StringCache())).toThrow(DecodeError);
  });
});

describe("decodeList()", () => {
  test.each([
    { name: "node-list", resource: NODES, count: 2, next: "next-page", version: "900" },
    { name: "service-list", resource: SERVICES, count: 1, next: "", version: "901" },
  ])("reads $name alike from both encodings", ({ name, resource, count, next, version }) => {
    const strings = new StringCache();
    const wide: Resource<KubeObject> = resource;
    const fromProtobuf = decodeList(wide, fixture(`${name}.pb`), PROTOBUF_TYPE, strings);
    expect(fromProtobuf).toStrictEqual(decodeList(wide, fixture(`${name}.json`), JSON_TYPE, strings));
    expect(fromProtobuf.items).toHaveLength(count);
    expect(fromProtobuf).toMatchObject({ continue: next, resourceVersion: version });
  });

  test("refuses an object where a list was asked for, rather than reading it as an empty list", () => {
    expect(() => decodeList(NODES, fixture("node-full.json"), JSON_TYPE, new StringCache())).toThrow(DecodeError);
  });
});

describe("protobuf and JSON decoders", () => {
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }));
  const record = fc.dictionary(fc.stringMatching(/^[a-z0-9./-]{1,40}$/), text, { maxKeys: 5 });
  const seconds = fc.integer({ min: 0, max: 4_000_000_000 });

  test("agree on every Node", () => {
    const types = ["Ready", "NetworkUnavailable", "MemoryPressure", "Ready "];
    const time = fc.option(fc.record({ seconds, nanos: fc.constant(0) }), { nil: undefined });
    const wireStatus: fc.Arbitrary<WireNodeStatus> = fc.record({
      conditions: fc.array(
        fc.record({ type: fc.constantFrom(...types), status: text, lastTransitionTime: time, reason: text }),
        { maxLength: 4 },
      ),
      addresses: fc.array(fc.record({ type: text, address: text }), { maxLength: 2 }),
      nodeInfo: fc.option(
        fc.record({
          machineID: text,
          systemUUID: text,
          bootID: text,
          kubeletVersion: text,
          operatingSystem: text,
          architecture: text,
        }),
        { nil: undefined },
      ),
    });
    const wireNode: fc.Arbitrary<WireNode> = fc.record({
      metadata: fc.record({
        name: text,
        namespace: fc.constant(""),
        uid: text,
        resourceVersion: text,
        generation: fc.maxSafeNat(),
        creationTimestamp: fc.record({ seconds, nanos: fc.constant(0) }),
        deletionTimestamp: fc.option(fc.record({ seconds, nanos: fc.constant(0) }), { nil: undefined }),
        labels: record,
        annotations: record,
        finalizers: fc.array(text, { maxLength: 3 }),
      }),
      spec: fc.record({
        podCIDR: text,
        podCIDRs: fc.array(fc.oneof(text, fc.constantFrom("010.120.8.0/24", "FD00:0::/64")), { maxLength: 2 }),
        providerID: text,
        unschedulable: fc.boolean(),
        taints: fc.array(fc.record({ key: text, value: text, effect: text, timeAdded: fc.constant(undefined) }), {
          maxLength: 2,
        }),
      }),
      status: fc.option(wireStatus, { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(wireNode, { maxLength: 3 }), (items) => {
        const wire = NodeList.encode({ metadata: { resourceVersion: "1", continue: "" }, items }).finish();
        const reader = new InterningReader(wire, new StringCache());
        const json = items.map(jsonOfNode).map((item): unknown => JSON.parse(JSON.stringify(item)));
        const list = Buffer.from(JSON.stringify({ kind: "NodeList", metadata: { resourceVersion: "1" }, items: json }));
        expect(NODES.protobuf?.decodeList(reader)).toStrictEqual(decodeList(NODES, list, JSON_TYPE, new StringCache()));
      }),
    );
  });

  test("agree on every target port", () => {
    const port = fc.oneof(fc.integer({ min: 0, max: 65_535 }), fc.stringMatching(/^[a-z][a-z0-9-]{0,14}$/));
    fc.assert(
      fc.property(port, (targetPort) => {
        const wire = Service.encode(wireServiceWith(targetPort)).finish();
        const decoded = SERVICES.protobuf?.decode(new InterningReader(wire, new StringCache()));
        const fromJson = SERVICES.fromJson({ spec: { ports: [{ targetPort }] } });
        expect(decoded?.spec.ports).toStrictEqual(fromJson.spec.ports);
      }),
    );
  });
});

describe("readStatus()", () => {
  test.each([
    { name: "status-conflict.pb", type: PROTOBUF_TYPE },
    { name: "status-conflict.json", type: JSON_TYPE },
  ])("reads $name", ({ name, type }) => {
    expect(readStatus(fixture(name), type, new StringCache())).toEqual({
      message: "the object has been modified",
      reason: "Conflict",
      code: 409,
      retryAfterSeconds: 3,
      causes: [],
    });
  });

  test("keeps the beginning of an answer that is no Status", () => {
    const page = Buffer.from(`<html>${"bad gateway ".repeat(100)}`);
    expect(readStatus(page, "text/html", new StringCache()).message).toHaveLength(200);
  });
});

describe("times", () => {
  test("formatTime() writes whole seconds, formatMicroTime() always six digits", () => {
    const ms = Date.UTC(2026, 10, 21, 12, 0, 0, 7);
    expect(formatTime(ms)).toBe("2026-11-21T12:00:00Z");
    expect(formatMicroTime(ms)).toBe("2026-11-21T12:00:00.007000Z");
  });
});

describe("StringCache", () => {
  test("gives back what the bytes say, whatever was read before", () => {
    const cache = new StringCache();
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 80 }), { maxLength: 20 }), (texts) => {
        for (const bytes of texts) {
          const buffer = Buffer.from(bytes);
          expect(cache.read(buffer, 0, buffer.length)).toBe(buffer.toString("utf8"));
        }
      }),
    );
  });
});

const isoOf = (time: { seconds: number } | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time.seconds * 1000).toISOString();

function jsonOfNode({ metadata, spec, status }: WireNode): unknown {
  const { creationTimestamp, deletionTimestamp, ...rest } = metadata ?? {
    creationTimestamp: undefined,
    deletionTimestamp: undefined,
  };
  return {
    metadata: { ...rest, creationTimestamp: isoOf(creationTimestamp), deletionTimestamp: isoOf(deletionTimestamp) },
    spec,
    status: status && {
      ...status,
      conditions: status.conditions.map(({ lastTransitionTime, ...condition }) => {
        return { ...condition, lastTransitionTime: isoOf(lastTransitionTime) };
      }),
    },
  };
}

function wireServiceWith(targetPort: number | string): WireService {
  const wire = Service.decode(new Uint8Array());
  const target =
    typeof targetPort === "number"
      ? { type: 0, intVal: targetPort, strVal: "" }
      : { type: 1, intVal: 0, strVal: targetPort };
  const port = { name: "", protocol: "", port: 0, targetPort: target, nodePort: 0, appProtocol: undefined };
  const empty = {
    clusterIP: "",
    type: "",
    externalIPs: [],
    sessionAffinity: "",
    loadBalancerIP: "",
    loadBalancerSourceRanges: [],
    externalTrafficPolicy: "",
    healthCheckNodePort: 0,
    publishNotReadyAddresses: false,
    sessionAffinityConfig: undefined,
    ipFamilyPolicy: undefined,
    clusterIPs: [],
    ipFamilies: [],
    allocateLoadBalancerNodePorts: undefined,
    loadBalancerClass: undefined,
    internalTrafficPolicy: undefined,
    trafficDistribution: undefined,
  };
  return { ...wire, spec: { ...empty, ports: [port] } };
}
