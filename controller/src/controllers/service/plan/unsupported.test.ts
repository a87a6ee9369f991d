import { describe, expect, test } from "vitest";
import { type ServiceParts, service, servicePort } from "../../../../test/support/builders.ts";
import { capabilities } from "../../../../test/support/provider/provider-builders.ts";
import type { LoadBalancerCapabilities } from "../../../provider/model/info.ts";
import { refusalOf, unsupportedRequests } from "./unsupported.ts";

type Row = readonly [
  sentence: string,
  parts: NonNullable<ServiceParts["spec"]>,
  declared: Partial<LoadBalancerCapabilities>,
  expected: readonly (readonly [feature: string, field: string, effect: "refused" | "ignored"])[],
];

const UDP = servicePort({ protocol: "UDP", port: 53, nodePort: 30_053 });
const DUAL = { ipFamilies: ["IPv4", "IPv6"], ipFamilyPolicy: "PreferDualStack" };

const rows: readonly Row[] = [
  ["a plain Service asks for nothing special", {}, {}, []],
  ["UDP where only TCP is served", { ports: [UDP] }, {}, [["Protocols", "spec.ports[0].protocol", "refused"]]],
  ["UDP where it is served", { ports: [UDP] }, { protocols: ["TCP", "UDP"] }, []],
  [
    "two protocols where one is taken",
    { ports: [servicePort(), UDP] },
    { protocols: ["TCP", "UDP"] },
    [["MixedProtocols", "spec.ports", "refused"]],
  ],
  [
    "two protocols where both are",
    { ports: [servicePort(), UDP] },
    { protocols: ["TCP", "UDP"], mixedProtocols: true },
    [],
  ],
  [
    "no node port where they are needed",
    { ports: [servicePort({ nodePort: 0 })] },
    {},
    [["NodePorts", "spec.ports[0].nodePort", "refused"]],
  ],
  ["no node port where they are not", { ports: [servicePort({ nodePort: 0 })] }, { needsNodePorts: false }, []],
  [
    "more ports than taken",
    { ports: [servicePort(), servicePort({ port: 443 })] },
    { maxPorts: 1 },
    [["MaxPorts", "spec.ports", "refused"]],
  ],
  ["as many ports as taken", {}, { maxPorts: 1 }, []],
  ["no family named by the server", { ipFamilies: [] }, {}, []],
  ["IPv6 alone where it is not served", { ipFamilies: ["IPv6"] }, {}, [["IpFamilies", "spec.ipFamilies", "refused"]]],
  ["dual stack preferred, one family served", DUAL, {}, [["IpFamilies", "spec.ipFamilies", "ignored"]]],
  [
    "dual stack preferred, each family served alone",
    DUAL,
    { ipFamilies: ["IPv4", "IPv6"] },
    [["DualStack", "spec.ipFamilies", "ignored"]],
  ],
  [
    "dual stack required",
    { ...DUAL, ipFamilyPolicy: "RequireDualStack" },
    { ipFamilies: ["IPv4", "IPv6"] },
    [["DualStack", "spec.ipFamilies", "refused"]],
  ],
  ["dual stack served", DUAL, { ipFamilies: ["IPv4", "IPv6"], dualStack: true }, []],
  [
    "clients limited where they cannot be: open to all would be worse than nothing",
    { loadBalancerSourceRanges: ["10.0.0.0/8"] },
    {},
    [["SourceRanges", "spec.loadBalancerSourceRanges", "refused"]],
  ],
  ["clients limited where they can be", { loadBalancerSourceRanges: ["10.0.0.0/8"] }, { sourceRanges: true }, []],
  ["a requested address", { loadBalancerIP: "203.0.113.9" }, {}, [["RequestedIp", "spec.loadBalancerIP", "ignored"]]],
  ["session affinity", { sessionAffinity: "ClientIP" }, {}, [["SessionAffinity", "spec.sessionAffinity", "ignored"]]],
  [
    "policy Local, without which traffic would be lost",
    { externalTrafficPolicy: "Local" },
    {},
    [["ExternalTrafficPolicyLocal", "spec.externalTrafficPolicy", "refused"]],
  ],
];

describe("unsupportedRequests()", () => {
  test.each(rows)("%s", (_, spec, declared, expected) => {
    const requests = unsupportedRequests(service("web", { spec }), capabilities(declared));
    expect(requests.map(({ feature, field, effect }) => [feature, field, effect])).toEqual(expected);
  });

  test.each<
    readonly [parts: NonNullable<ServiceParts["spec"]>, declared: Partial<LoadBalancerCapabilities>, message: string]
  >([
    [{ ports: [UDP] }, { protocols: ["TCP", "SCTP"] }, "port 53/UDP: the provider serves TCP, SCTP only"],
    [
      { ports: [servicePort({ nodePort: 0 })] },
      {},
      "port 80/TCP has no node port, and the provider forwards to node ports; set allocateLoadBalancerNodePorts to true",
    ],
    [
      { ports: [servicePort(), UDP] },
      { protocols: ["TCP", "UDP"] },
      "ports use TCP and UDP; the provider supports one protocol per load balancer",
    ],
    [
      { ports: [servicePort(), servicePort({ port: 443 })] },
      { maxPorts: 1 },
      "2 ports; the provider supports 1 per load balancer",
    ],
    [DUAL, {}, "IPv4 and IPv6 requested; the provider serves IPv4 only"],
    [DUAL, { ipFamilies: ["IPv4", "IPv6"] }, "IPv4 and IPv6 requested; the provider serves IPv4 or IPv6, not both"],
    [
      { loadBalancerSourceRanges: ["10.0.0.0/8", "10.1.0.0/16", "10.2.0.0/16"] },
      {},
      "clients are limited to 10.0.0.0/8, 10.1.0.0/16, 10.2.0.0/16; the provider cannot restrict clients, and would allow all",
    ],
    [{ loadBalancerIP: "203.0.113.9" }, {}, "address 203.0.113.9 requested; the provider selects addresses itself"],
    [
      { sessionAffinity: "ClientIP" },
      {},
      "session affinity ClientIP requested; the provider distributes the connections of a client over nodes",
    ],
    [
      { externalTrafficPolicy: "Local" },
      {},
      "external traffic policy Local requested; the provider does not check which nodes have a pod, and traffic to other nodes would be lost",
    ],
  ])("says of %o with %o in words what is asked for and what is offered", (spec, declared, message) => {
    const requests = unsupportedRequests(service("web", { spec }), capabilities(declared));
    expect(requests.map((request) => request.message)).toEqual([message]);
  });

  test("names every request, and not every range", () => {
    const subject = service("web", {
      spec: { ports: [UDP], loadBalancerSourceRanges: ["10.0.0.0/8", "10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16"] },
    });
    expect(unsupportedRequests(subject, capabilities()).map(({ message }) => message)).toEqual([
      "port 53/UDP: the provider serves TCP only",
      "clients are limited to 10.0.0.0/8, 10.1.0.0/16, 10.2.0.0/16, …; the provider cannot restrict clients, and would allow all",
    ]);
  });
});

describe("refusal", () => {
  describe("plan() asks the cloud for nothing", () => {
    test("when the Service asks for what must not be left out", () => {
      const refused = {
        feature: "SourceRanges",
        field: "spec.loadBalancerSourceRanges",
        message: "open to all",
        effect: "refused",
      } as const;
      const ignored = {
        feature: "RequestedIp",
        field: "spec.loadBalancerIP",
        message: "m",
        effect: "ignored",
      } as const;
      const other = {
        feature: "Protocols",
        field: "spec.ports[0].protocol",
        message: "no SCTP",
        effect: "refused",
      } as const;
      expect(refusalOf([refused, ignored, other])).toEqual({
        message: "spec.loadBalancerSourceRanges: open to all; spec.ports[0].protocol: no SCTP",
        retryAfterMs: undefined,
        nextTry: "retrying when the Service or the provider changes",
      });
      expect(refusalOf([ignored])).toBeUndefined();
    });
  });
});
