import { ProviderError, type DesiredLoadBalancer } from "@cloudwire/provider-sdk";
import { describe, expect, test } from "vitest";
import { tcp, udp, wanted } from "../../test/desired.ts";
import { toNlbSpec } from "./nlb-spec.ts";

const plainAttributes = {
  "deregistration_delay.timeout_seconds": "300",
  "preserve_client_ip.enabled": "true",
  "proxy_protocol_v2.enabled": "false",
};
const tcpProbe = {
  protocol: "TCP",
  port: "traffic-port",
  intervalSeconds: 10,
  timeoutSeconds: 6,
  healthyCount: 2,
  unhealthyCount: 2,
};
const kubeProxyProbe = { ...tcpProbe, protocol: "HTTP", port: "10256", path: "/healthz" };

const refusal = (of: DesiredLoadBalancer): ProviderError => {
  try {
    toNlbSpec(of);
  } catch (error) {
    if (error instanceof ProviderError) return error;
    throw error;
  }
  throw new Error("it was not refused");
};

test("toNlbSpec() asks for what the Service says, and AWS' defaults", () => {
  expect(toNlbSpec(wanted({}, { ports: [udp(53), tcp(80)], tags: { team: "blue" } }))).toEqual({
    name: "k8s-1",
    isInternal: false,
    addressType: "ipv4",
    listeners: [
      {
        port: 53,
        protocol: "UDP",
        tls: undefined,
        group: {
          name: expect.stringMatching(/^cw-/),
          protocol: "UDP",
          port: 30053,
          ipFamily: "ipv4",
          probe: kubeProxyProbe,
          attributes: plainAttributes,
        },
      },
      {
        port: 80,
        protocol: "TCP",
        tls: undefined,
        idleTimeoutSeconds: 350,
        group: {
          name: expect.stringMatching(/^cw-/),
          protocol: "TCP",
          port: 30080,
          ipFamily: "ipv4",
          probe: tcpProbe,
          attributes: plainAttributes,
        },
      },
    ],
    attributes: { "load_balancing.cross_zone.enabled": "false", "access_logs.s3.enabled": "false" },
    sourceRanges: ["0.0.0.0/0"],
    securityGroups: [],
    extraSecurityGroups: [],
    subnets: [],
    allocationIds: [],
    privateAddresses: [],
    tags: {
      team: "blue",
      "cloudwire.dev/cluster-id": "cluster-1",
      "cloudwire.dev/cluster-name": "blue",
      "cloudwire.dev/service-uid": "uid-1",
      "kubernetes.io/service-name": "default/web",
    },
  });
});

describe("toNlbSpec() honors", () => {
  test.each([
    [{ internal: "true" }, { isInternal: true }],
    [{ subnets: "subnet-1, Blue" }, { subnets: ["subnet-1", "Blue"] }],
    [{ "eip-allocations": "eipalloc-1,eipalloc-2" }, { allocationIds: ["eipalloc-1", "eipalloc-2"] }],
    [{ internal: "true", "private-ipv4-addresses": "10.0.1.9" }, { privateAddresses: ["10.0.1.9"] }],
    [{ "security-groups": "sg-1" }, { securityGroups: ["sg-1"] }],
    [{ "extra-security-groups": "sg-2" }, { extraSecurityGroups: ["sg-2"] }],
    [
      { "cross-zone-load-balancing-enabled": "true" },
      { attributes: { "load_balancing.cross_zone.enabled": "true", "access_logs.s3.enabled": "false" } },
    ],
    [
      { "access-log-enabled": "true", "access-log-s3-bucket-name": "logs", "access-log-s3-bucket-prefix": "web" },
      {
        attributes: {
          "access_logs.s3.enabled": "true",
          "access_logs.s3.bucket": "logs",
          "access_logs.s3.prefix": "web",
        },
      },
    ],
    [{ "additional-resource-tags": "team=blue,plain" }, { tags: { team: "blue", plain: "" } }],
    [
      { "additional-resource-tags": "cloudwire.dev/cluster-id=x" },
      { tags: { "cloudwire.dev/cluster-id": "cluster-1" } },
    ],
    [{ type: "nlb" }, { isInternal: false }],
    [{ "nlb-target-type": "instance" }, { isInternal: false }],
    [{ "ip-address-type": "dualstack" }, { addressType: "dualstack", sourceRanges: ["0.0.0.0/0", "::/0"] }],
  ])("the annotations %j", (annotations, expected) => {
    expect(toNlbSpec(wanted(annotations))).toMatchObject(expected);
  });

  test.each([
    [{ "connection-idle-timeout": "600" }, { idleTimeoutSeconds: 600 }],
    [{ "proxy-protocol": "*" }, { group: { attributes: { "proxy_protocol_v2.enabled": "true" } } }],
    [
      { "target-group-attributes": "preserve_client_ip.enabled=false, proxy_protocol_v2.enabled=true" },
      { group: { attributes: { "preserve_client_ip.enabled": "false", "proxy_protocol_v2.enabled": "true" } } },
    ],
    [
      { "connection-draining-timeout": "60" },
      { group: { attributes: { "deregistration_delay.timeout_seconds": "60" } } },
    ],
    [
      { "connection-draining-enabled": "false" },
      { group: { attributes: { "deregistration_delay.timeout_seconds": "0" } } },
    ],
    [
      { "ssl-cert": "arn:cert", "ssl-negotiation-policy": "ELBSecurityPolicy-2016-08" },
      {
        protocol: "TLS",
        tls: { certificateArn: "arn:cert", policy: "ELBSecurityPolicy-2016-08" },
        group: { protocol: "TCP" },
      },
    ],
    [
      { "ssl-cert": "arn:cert", "backend-protocol": "ssl" },
      { protocol: "TLS", group: { protocol: "TLS" } },
    ],
    [
      { "ssl-cert": "arn:cert", "ssl-ports": "443,secure" },
      { protocol: "TCP", tls: undefined },
    ],
    [{ "healthcheck-protocol": "http" }, { group: { probe: { protocol: "HTTP", port: "traffic-port", path: "/" } } }],
    [
      {
        "healthcheck-protocol": "HTTPS",
        "healthcheck-port": "8443",
        "healthcheck-path": "/ready",
        "healthcheck-interval": "30",
        "healthcheck-timeout": "10",
        "healthcheck-healthy-threshold": "3",
        "healthcheck-unhealthy-threshold": "4",
      },
      {
        group: {
          probe: {
            protocol: "HTTPS",
            port: "8443",
            path: "/ready",
            intervalSeconds: 30,
            timeoutSeconds: 10,
            healthyCount: 3,
            unhealthyCount: 4,
          },
        },
      },
    ],
  ])("in a listener the annotations %j", (annotations, expected) => {
    expect(toNlbSpec(wanted(annotations)).listeners[0]).toMatchObject(expected);
  });

  test("deletion protection only on request", () => {
    const of = (deletionProtection?: boolean) =>
      toNlbSpec(wanted({}, deletionProtection === undefined ? {} : { deletionProtection })).attributes[
        "deletion_protection.enabled"
      ];
    expect([of(), of(true), of(false)]).toEqual([undefined, "true", "false"]);
  });

  test("the health check that Kubernetes asks for", () => {
    const local = wanted({}, { externalTrafficPolicy: "Local", healthCheck: { port: 32000, path: "/healthz" } });
    const [listener] = toNlbSpec(local).listeners;
    expect(listener?.group.probe).toMatchObject({ protocol: "HTTP", port: "32000", path: "/healthz" });
  });

  test("TCP and UDP on one port as one listener for both", () => {
    const { listeners } = toNlbSpec(wanted({}, { ports: [tcp(53, 30053), udp(53, 30053)] }));
    expect(listeners.map(({ port, protocol }) => [port, protocol])).toEqual([[53, "TCP_UDP"]]);
  });
});

describe("toNlbSpec() of a Service of the families", () => {
  test.each([
    ["IPv4", ["IPv4"], {}, ["ipv4", "ipv4"]],
    ["IPv4 and IPv6", ["IPv4", "IPv6"], {}, ["dualstack", "ipv4"]],
    ["IPv6 and IPv4", ["IPv6", "IPv4"], {}, ["dualstack", "ipv4"]],
    ["IPv6", ["IPv6"], {}, ["dualstack", "ipv6"]],
    ["IPv4 and IPv6, which asks for ipv4", ["IPv4", "IPv6"], { "ip-address-type": "ipv4" }, ["ipv4", "ipv4"]],
  ] as const)("%s", (_what, ipFamilies, annotations, expected) => {
    const { addressType, listeners } = toNlbSpec(wanted(annotations, { ipFamilies }));
    expect([addressType, listeners[0]?.group.ipFamily]).toEqual(expected);
  });

  test("IPv6 has other target groups than that of IPv4, whose names stay what they were", () => {
    const nameOf = (ipFamilies: DesiredLoadBalancer["ipFamilies"]) =>
      toNlbSpec(wanted({}, { ipFamilies })).listeners[0]?.group.name;
    expect(nameOf(["IPv6"])).not.toBe(nameOf(["IPv4"]));
    expect(nameOf(["IPv4", "IPv6"])).toBe(nameOf(["IPv4"]));
  });
});

describe("toNlbSpec() refuses", () => {
  test("UDP for both families", () => {
    expect(refusal(wanted({}, { ports: [udp(53)], ipFamilies: ["IPv4", "IPv6"] }))).toMatchObject({
      reason: "FEATURE_UNSUPPORTED",
      fieldViolations: [{ field: "spec.ip_families" }],
    });
  });

  test("ipv4 for a Service of IPv6 alone", () => {
    const of = wanted({ "ip-address-type": "ipv4" }, { ipFamilies: ["IPv6"] });
    expect(refusal(of).reason).toBe("ANNOTATION_INVALID");
  });

  test.each([
    [{ type: "external" }, "NOT_RESPONSIBLE"],
    [{ type: "nlb-ip" }, "NOT_RESPONSIBLE"],
    [{ "target-node-labels": "a=b" }, "FEATURE_UNSUPPORTED"],
    [{ "nlb-target-type": "ip" }, "FEATURE_UNSUPPORTED"],
    [{ "connection-idle-timeout": "59" }, "ANNOTATION_INVALID"],
    [{ "healthcheck-interval": "4" }, "ANNOTATION_INVALID"],
    [{ "healthcheck-port": "http" }, "ANNOTATION_INVALID"],
    [{ "target-group-attributes": "stickiness.enabled=true" }, "ANNOTATION_INVALID"],
    [{ "target-group-attributes": "preserve_client_ip.enabled=maybe" }, "ANNOTATION_INVALID"],
    [{ "access-log-enabled": "true" }, "ANNOTATION_INVALID"],
    [{ internal: "true", "eip-allocations": "eipalloc-1" }, "ANNOTATION_INVALID"],
    [{ "private-ipv4-addresses": "10.0.1.9" }, "ANNOTATION_INVALID"],
  ])("the annotations %j as %s", (annotations, reason) => {
    expect(refusal(wanted(annotations)).reason).toBe(reason);
  });

  test("all that is wrong at once, with the fields", () => {
    expect(refusal(wanted({ "healthcheck-interval": "1", "healthcheck-timeout": "1" })).fieldViolations).toEqual([
      {
        field: 'spec.annotations["service.beta.kubernetes.io/aws-load-balancer-healthcheck-interval"]',
        description:
          "annotation service.beta.kubernetes.io/aws-load-balancer-healthcheck-interval must be a whole number, 5 to 300",
      },
      {
        field: 'spec.annotations["service.beta.kubernetes.io/aws-load-balancer-healthcheck-timeout"]',
        description:
          "annotation service.beta.kubernetes.io/aws-load-balancer-healthcheck-timeout must be a whole number, 2 to 120",
      },
    ]);
  });

  test("TCP and UDP on one port with different node ports", () => {
    const ports = [tcp(53, 30053), udp(53, 30054)];
    expect(refusal(wanted({}, { ports }))).toMatchObject({
      reason: "FEATURE_UNSUPPORTED",
      fieldViolations: [{ field: "spec.ports[1].port" }],
    });
  });

  test("source ranges where the security groups are the user's", () => {
    const of = wanted({ "security-groups": "sg-1" }, { sourceRanges: ["192.0.2.0/24"] });
    expect(refusal(of)).toMatchObject({
      reason: "FEATURE_UNSUPPORTED",
      fieldViolations: [{ field: "spec.source_ranges" }],
    });
  });
});
