import { EnsureLoadBalancerRequest } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { BatchGetInstancesRequest } from "@cloudwire/proto/cloudprovider/v1/instance";
import { fieldRules } from "@cloudwire/proto/rules";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RuleChecker } from "./rule-checker.ts";

const checker = new RuleChecker();

const valid = () =>
  EnsureLoadBalancerRequest.fromPartial({
    context: { cluster: { id: "cluster-1" }, scopeId: "acct-1" },
    change: { requestId: "r-1" },
    service: { namespace: "default", name: "web", uid: "uid-1" },
    spec: { ports: [{ protocol: 1, port: 80 }] },
    specFingerprint: "spec-1",
    nodes: { fingerprint: "nodes-1", count: 0, source: { $case: "inline", value: { nodes: [] } } },
  });

type Request = ReturnType<typeof valid>;

const broken = (change: (request: Request) => void) => {
  const request = valid();
  change(request);
  return checker
    .check("cloudprovider.v1.EnsureLoadBalancerRequest", request)
    .map(({ reason, field }) => `${reason} ${field}`);
};

const spec = ({ spec: found }: Request) => found ?? expect.fail("the request has a spec");

describe("RuleChecker.check()", () => {
  test("finds nothing in a valid request", () => {
    expect(broken(() => undefined)).toEqual([]);
  });

  test.each<[string, (request: Request) => void, string]>([
    ["a message that is missing", (r) => void (r.service = undefined), "FIELD_MISSING service"],
    ["a text that is empty", (r) => void (r.specFingerprint = ""), "FIELD_MISSING spec_fingerprint"],
    ["a list that is empty", (r) => void (spec(r).ports = []), "FIELD_MISSING spec.ports"],
    [
      "an enum that is not said",
      (r) => void spec(r).ports.push({ name: "", protocol: 0, port: 81 }),
      "FIELD_MISSING spec.ports[1].protocol",
    ],
    [
      "a number below",
      (r) => void spec(r).ports.push({ name: "", protocol: 1, port: 81, nodePort: 0 }),
      "FIELD_INVALID spec.ports[1].node_port",
    ],
    [
      "a number above",
      (r) => void spec(r).ports.push({ name: "", protocol: 1, port: 70_000 }),
      "FIELD_INVALID spec.ports[1].port",
    ],
    ["a text too long", (r) => void (r.specFingerprint = "x".repeat(129)), "FIELD_TOO_LARGE spec_fingerprint"],
    [
      "bytes counted, not characters",
      (r) => void (r.specFingerprint = "ü".repeat(65)),
      "FIELD_TOO_LARGE spec_fingerprint",
    ],
    [
      "a map with too many entries",
      (r) => void (spec(r).tags = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`k${index}`, ""]))),
      "FIELD_TOO_LARGE spec.tags",
    ],
    [
      "an item in the chosen member of a oneof",
      (r) => {
        const nodes = [{ name: "", providerId: "acme://n", addresses: [], zone: "", labels: {} }];
        if (r.nodes) r.nodes.source = { $case: "inline", value: { nodes } };
      },
      "FIELD_MISSING nodes.inline.nodes[0].name",
    ],
    ["a map too large", (r) => void (spec(r).tags = { a: "x".repeat(4_096) }), "FIELD_TOO_LARGE spec.tags"],
    [
      "a map with too many entries",
      (r) => void (spec(r).tags = Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`k${i}`, "v"]))),
      "FIELD_TOO_LARGE spec.tags",
    ],
    [
      "too many items",
      (r) => void (spec(r).requestedIps = ["10.0.0.1", "10.0.0.2", "10.0.0.3"]),
      "FIELD_TOO_LARGE spec.requested_ips",
    ],
    ["an invalid address", (r) => void (spec(r).requestedIps = ["10.0.0.256"]), "FIELD_INVALID spec.requested_ips[0]"],
    [
      "an invalid CIDR",
      (r) => void (spec(r).sourceRanges = { cidrs: ["10.0.0.0"] }),
      "FIELD_INVALID spec.source_ranges.cidrs[0]",
    ],
    [
      "a duration that protobuf does not know",
      (r) => void (spec(r).sessionAffinity = { timeout: { seconds: 315_576_000_001n, nanos: 0 } }),
      "FIELD_INVALID spec.session_affinity.timeout",
    ],
  ])("finds %s", (_title, change, found) => {
    expect(broken(change)).toEqual([found]);
  });

  test.each<[string, (request: Request) => void]>([
    ["a text of exactly the limit", (r) => void (r.specFingerprint = "ü".repeat(64))],
    ["as many items as allowed", (r) => void (spec(r).requestedIps = ["10.0.0.1", "fd00::1"])],
    ["the largest port", (r) => void (spec(r).ports = [{ name: "", protocol: 1, port: 65_535 }])],
    [
      "an optional number that is absent",
      (r) => void (spec(r).ports = [{ name: "", protocol: 1, port: 80, nodePort: undefined }]),
    ],
  ])("takes %s", (_title, change) => {
    expect(broken(change)).toEqual([]);
  });

  test.each([new Date(Number.NaN), new Date(253_402_300_800_000)])(
    "finds a time that protobuf does not know: %s",
    (createTime) => {
      const request = BatchGetInstancesRequest.fromPartial({
        context: { cluster: { id: "c" }, scopeId: "s" },
        nodes: [{ name: "n1", createTime }],
      });
      expect(checker.check("cloudprovider.v1.BatchGetInstancesRequest", request)).toEqual([
        { reason: "FIELD_INVALID", field: "nodes[0].create_time", description: "is no time of the years 1 to 9999" },
      ]);
    },
  );

  test("looks into every item of a batch and stops telling at 64", () => {
    const request = BatchGetInstancesRequest.fromPartial({
      context: { cluster: { id: "c" }, scopeId: "s" },
      nodes: Array.from({ length: 500 }, () => ({ name: "" })),
    });
    const found = checker.check("cloudprovider.v1.BatchGetInstancesRequest", request);
    expect([found.length, found[0]?.field, found[63]?.field]).toEqual([64, "nodes[0].name", "nodes[63].name"]);
  });

  test("never throws, whatever it is given", () => {
    const names = Object.keys(fieldRules);
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.anything(), (name, value) => {
        expect(Array.isArray(checker.check(name, value))).toBe(true);
      }),
    );
  });
});
