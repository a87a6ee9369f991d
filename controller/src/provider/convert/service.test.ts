import { IpFamily } from "@cloudwire/proto/cloudprovider/v1/common";
import { Protocol } from "@cloudwire/proto/cloudprovider/v1/identity";
import { ExternalTrafficPolicy } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ServiceParts, service, servicePort } from "../../../test/support/builders.ts";
import { capabilities, ALL_CAPABILITIES } from "../../../test/support/provider/provider-builders.ts";
import {
  declaredAnnotations,
  loadBalancerSpec,
  loadBalancerSpecToProto,
  nameHint,
  serviceRef,
  specFingerprint,
} from "./service.ts";
import { sourceRanges } from "../../util/values/source-ranges.ts";

const declared = { annotationPrefixes: ["acme.example.com/"], loadBalancers: ALL_CAPABILITIES };
const settings = { tags: { env: "prod" } };
const spec = (parts: ServiceParts, features = declared) => loadBalancerSpec(service("web", parts), features, settings);

describe("loadBalancerSpec()", () => {
  test("converts everything a Service requests", () => {
    const wanted = spec({
      metadata: {
        uid: "8C2F-aa01",
        annotations: { "acme.example.com/size": "large", "acme.example.community/size": "no", secret: "no" },
      },
      spec: {
        loadBalancerClass: "acme.example.com/fast",
        ports: [
          servicePort({ name: "http", port: 80, nodePort: 30_080, targetPort: 8080, appProtocol: "http" }),
          servicePort({ name: "dns", protocol: "UDP", port: 53, nodePort: 0, targetPort: "dns" }),
        ],
        ipFamilies: ["IPv6", "IPv4"],
        loadBalancerSourceRanges: [" 10.0.0.0/8 ", "fd00::/8"],
        loadBalancerIP: "203.0.113.9",
        externalTrafficPolicy: "Local",
        healthCheckNodePort: 31_000,
        sessionAffinity: "ClientIP",
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
      },
    });
    expect(loadBalancerSpecToProto(wanted)).toEqual({
      class: "acme.example.com/fast",
      ports: [
        { name: "http", protocol: Protocol.TCP, appProtocol: "http", port: 80, nodePort: 30_080, targetPort: 8080 },
        { name: "dns", protocol: Protocol.UDP, port: 53 },
      ],
      ipFamilies: [IpFamily.IPV6, IpFamily.IPV4],
      sourceRanges: { cidrs: ["10.0.0.0/8", "fd00::/8"] },
      externalTrafficPolicy: ExternalTrafficPolicy.LOCAL,
      healthCheck: { port: 31_000, kind: { $case: "http", value: { path: "/healthz" } } },
      sessionAffinity: { timeout: { seconds: 60n, nanos: 0 } },
      requestedIps: ["203.0.113.9"],
      annotations: { "acme.example.com/size": "large" },
      nameHint: "a8c2faa01",
      tags: { env: "prod" },
    });
  });

  test("does not ask for what the provider does not declare", () => {
    const parts: ServiceParts = {
      spec: {
        ipFamilies: ["IPv6", "IPv4"],
        loadBalancerSourceRanges: ["10.0.0.0/8"],
        loadBalancerIP: "203.0.113.9",
        sessionAffinity: "ClientIP",
      },
    };
    const wanted = spec(parts, { annotationPrefixes: [], loadBalancers: capabilities() });
    expect(loadBalancerSpecToProto(wanted)).toMatchObject({
      ipFamilies: [IpFamily.IPV4],
      sourceRanges: undefined,
      requestedIps: [],
      sessionAffinity: undefined,
    });
  });

  test.each([
    ["policy Cluster", { externalTrafficPolicy: "Cluster", healthCheckNodePort: 31_000 }],
    ["no port allocated", { externalTrafficPolicy: "Local", healthCheckNodePort: 0 }],
    ["another type", { type: "NodePort", externalTrafficPolicy: "Local", healthCheckNodePort: 31_000 }],
  ])("has no health check with %s", (_, parts) => {
    expect(spec({ spec: parts }).healthCheck).toBeUndefined();
  });

  test("fills Kubernetes' default for how long a client stays with its node", () => {
    const wanted = spec({ spec: { sessionAffinity: "ClientIP" } });
    expect(loadBalancerSpecToProto(wanted).sessionAffinity).toEqual({ timeout: { seconds: 10_800n, nanos: 0 } });
  });
});

describe("loadBalancerSpec() of a Service that is protected", () => {
  const saying = (value: string): ServiceParts => ({
    metadata: { annotations: { "service.cloudwire.dev/deletion-protection": value } },
  });

  test.each([
    { it: "asks for it", parts: saying("true"), can: true, want: true },
    { it: "takes it back", parts: saying("false"), can: true, want: false },
    { it: "says nothing of it without annotation", parts: {}, can: true, want: undefined },
    { it: "says nothing of it to a provider that cannot", parts: saying("true"), can: false, want: undefined },
  ])("$it", ({ parts, can, want }) => {
    const loadBalancers = capabilities({ deletionProtection: can });
    const wanted = loadBalancerSpec(service("web", parts), { annotationPrefixes: [], loadBalancers }, { tags: {} });
    expect([wanted.deletionProtection, Object.keys(wanted.annotations)]).toEqual([want, []]);
  });

  test("has another fingerprint, and the same one whether that is taken back or not spoken of", () => {
    const loadBalancers = capabilities({ deletionProtection: true });
    const [yes, no, none] = [saying("true"), saying("false"), {}].map((parts) =>
      specFingerprint(loadBalancerSpec(service("web", parts), { annotationPrefixes: [], loadBalancers }, { tags: {} })),
    );
    expect([no === none, yes === none]).toEqual([true, false]);
  });
});

describe("sourceRanges()", () => {
  const annotation = "service.beta.kubernetes.io/load-balancer-source-ranges";

  test.each([
    ["nothing lets everybody in", [], undefined, []],
    ["the spec counts", ["10.0.0.0/8"], undefined, ["10.0.0.0/8"]],
    ["the annotation counts without spec", [], "10.0.0.0/8, 192.168.0.0/16", ["10.0.0.0/8", "192.168.0.0/16"]],
    ["the spec goes before the annotation", ["10.0.0.0/8"], "192.168.0.0/16", ["10.0.0.0/8"]],
    ["an empty annotation lets everybody in", [], " ", []],
    [
      "each range has one text (case V-2)",
      ["10.0.0.1/8", "010.0.0.0/8", " ::ffff:10.0.0.0/104", "2001:DB8:0:0::/32", "no-range"],
      undefined,
      ["10.0.0.0/8", "2001:db8::/32", "no-range"],
    ],
    ["each range of the annotation too (case V-2)", [], "10.0.0.1/8,010.0.0.0/8", ["10.0.0.0/8"]],
  ])("%s", (_, loadBalancerSourceRanges, value, expected) => {
    const annotations = value === undefined ? {} : { [annotation]: value };
    expect(sourceRanges(service("web", { metadata: { annotations }, spec: { loadBalancerSourceRanges } }))).toEqual(
      expected,
    );
  });
});

test("nameHint() keeps to 32 of [a-z0-9-] and begins with a letter, whatever the UID", () => {
  fc.assert(
    fc.property(fc.string(), (uid) => {
      expect(nameHint(uid)).toMatch(/^a[a-z0-9-]{0,31}$/);
    }),
  );
  expect(nameHint("01234567-89ab-cdef-0123-456789abcdef")).toBe("a0123456789abcdef0123456789abcde");
});

test("declaredAnnotations() sends nothing when nothing is declared", () => {
  expect(declaredAnnotations(service("web", { metadata: { annotations: { a: "b" } } }), [])).toEqual({});
});

test("serviceRef() names the Service", () => {
  const subject = service("web", { metadata: { uid: "u" } });
  expect(serviceRef(subject)).toEqual({ namespace: "default", name: "web", uid: "u" });
});

describe("specFingerprint()", () => {
  const base: ServiceParts = {
    metadata: { annotations: { "acme.example.com/a": "1", "acme.example.com/b": "2" } },
    spec: {
      ports: [servicePort({ port: 80 }), servicePort({ port: 443, name: "tls" })],
      loadBalancerSourceRanges: ["10.0.0.0/8", "172.16.0.0/12"],
    },
  };

  test("is short and plain enough for a tag of any cloud", () => {
    expect(specFingerprint(spec(base))).toMatch(/^s1-[0-9a-f]{40}$/);
  });

  test("does not change between releases", () => {
    expect(specFingerprint(spec(base))).toBe("s1-9ecd270415c3a416a40053bec2cbb42e13fbafec");
  });

  test.each<readonly [string, ServiceParts]>([
    ["the order of ports", { spec: { ...base.spec, ports: (base.spec?.ports ?? []).toReversed() } }],
    ["the order of ranges", { spec: { ...base.spec, loadBalancerSourceRanges: ["172.16.0.0/12", "10.0.0.0/8"] } }],
    [
      "the order of annotations, and annotations of others",
      { metadata: { annotations: { other: "x", "acme.example.com/b": "2", "acme.example.com/a": "1" } } },
    ],
    ["labels", { metadata: { ...base.metadata, labels: { a: "b" } } }],
  ])("is the same whatever %s", (_, parts) => {
    expect(specFingerprint(spec({ ...base, ...parts }))).toBe(specFingerprint(spec(base)));
  });

  test.each<readonly [string, ServiceParts]>([
    [
      "a node port",
      { spec: { ...base.spec, ports: [servicePort({ nodePort: 1 }), servicePort({ port: 443, name: "tls" })] } },
    ],
    ["a range", { spec: { ...base.spec, loadBalancerSourceRanges: ["10.0.0.0/8"] } }],
    ["an annotation", { metadata: { annotations: { "acme.example.com/a": "1" } } }],
    ["the traffic policy", { spec: { ...base.spec, externalTrafficPolicy: "Local" } }],
    ["the preferred family", { spec: { ...base.spec, ipFamilies: ["IPv6"] } }],
  ])("is another one with %s changed", (_, parts) => {
    expect(specFingerprint(spec({ ...base, ...parts }))).not.toBe(specFingerprint(spec(base)));
  });
});
