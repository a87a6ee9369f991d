import { AnnotationType, type GetProviderInfoResponse, Protocol } from "@cloudwire/proto/cloudprovider/v1/identity";
import { IpFamily } from "@cloudwire/proto/cloudprovider/v1/common";
import { ExternalTrafficPolicy } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { type Check, type CheckContext, CheckSkipped } from "../../suite/check.ts";
import { errorProblem, expectNone, fail } from "../../suite/expect.ts";
import type { Called } from "../../endpoint/caller.ts";
import { isClaimed } from "../../contract/capabilities.ts";
import { outcomeLine } from "../../endpoint/exchange.ts";
import { codeName } from "../../endpoint/status.ts";
import { TestBalancer, type DesiredBalancer } from "./test-balancer.ts";

/** A spec that has to be rejected. */
interface Refused {
  readonly what: string;
  readonly desired: DesiredBalancer;
  readonly reasons: readonly string[];
  /** Path that BadRequest names, or with which the path begins. */
  readonly field: string;
}

/** Specs that have to be rejected for one reason; none: the provider accepts all of the kind. */
interface Refusal extends Pick<Check, "id" | "title" | "rules" | "why"> {
  readonly cases: (info: GetProviderInfoResponse) => readonly Refused[];
}

const node = { nodePort: 30_080 } as const;

/** Values that no annotation of the type takes. */
const badValues: Readonly<Partial<Record<AnnotationType, string>>> = {
  [AnnotationType.BOOL]: "perhaps",
  [AnnotationType.INTEGER]: "many",
  [AnnotationType.DURATION]: "a while",
  [AnnotationType.ENUM]: "conformance-no-such-value",
  [AnnotationType.CIDR_LIST]: "everywhere",
};

const undeclared = ["FEATURE_UNSUPPORTED"];

/** What may be asked for only where it is declared. */
const features: readonly (Refused & { readonly capability: string })[] = [
  {
    capability: "source_ranges",
    what: "source ranges",
    desired: { spec: { sourceRanges: { cidrs: ["198.51.100.0/24"] } } },
    reasons: undeclared,
    field: "spec.source_ranges",
  },
  {
    capability: "requested_ip",
    what: "an address",
    desired: { spec: { requestedIps: ["198.51.100.7"] } },
    reasons: undeclared,
    field: "spec.requested_ips",
  },
  {
    capability: "session_affinity",
    what: "session affinity",
    desired: { spec: { sessionAffinity: {} } },
    reasons: undeclared,
    field: "spec.session_affinity",
  },
  {
    capability: "external_traffic_policy_local",
    what: "traffic policy Local",
    desired: { spec: { externalTrafficPolicy: ExternalTrafficPolicy.LOCAL } },
    reasons: undeclared,
    field: "spec.external_traffic_policy",
  },
  {
    capability: "deletion_protection",
    what: "protection against deletion",
    desired: { spec: { deletionProtection: true } },
    reasons: undeclared,
    field: "spec.deletion_protection",
  },
  {
    capability: "dual_stack",
    what: "two families",
    desired: { spec: { ipFamilies: [IpFamily.IPV4, IpFamily.IPV6] } },
    reasons: undeclared,
    field: "spec.ip_families",
  },
  {
    capability: "adopt",
    what: "adoption of a load balancer",
    desired: { more: { adopt: { loadBalancerId: "conformance-none" } } },
    reasons: undeclared,
    field: "adopt",
  },
];

const ports: readonly Refusal[] = [
  {
    id: "lb.ensure.no-ports",
    title: "a load balancer without ports is refused",
    rules: ["LIM-1", "ERR-5"],
    why: "A list of ports that was lost would close all of them.",
    cases: () => [
      { what: "no ports", desired: { spec: { ports: [] } }, reasons: ["FIELD_MISSING"], field: "spec.ports" },
    ],
  },
  {
    id: "lb.ensure.dup-port",
    title: "the same port and protocol twice is refused, with the path of the second",
    rules: ["ERR-5"],
    why: "Which of the two wins is random, without any message to the user.",
    cases: () => [
      {
        what: "port 80 twice",
        desired: { spec: { ports: [80, 80].map((port) => ({ port, protocol: Protocol.TCP, ...node })) } },
        reasons: ["FIELD_INVALID"],
        field: "spec.ports[1]",
      },
    ],
  },
  {
    id: "lb.ensure.bad-proto",
    title: "a protocol that is not declared is refused with PORT_PROTOCOL_UNSUPPORTED",
    rules: ["LB-6"],
    why: "A UDP port that is created as TCP looks correct but serves no client.",
    cases: ({ capabilities }) =>
      [Protocol.SCTP, Protocol.UDP]
        .filter((protocol) => !(capabilities?.loadBalancers?.protocols ?? []).includes(protocol))
        .map((protocol) => ({
          what: `protocol ${protocol}`,
          desired: { spec: { ports: [{ port: 80, protocol, ...node }] } },
          reasons: ["PORT_PROTOCOL_UNSUPPORTED"],
          field: "spec.ports[0]",
        })),
  },
];

const undeclaredIn = (info: GetProviderInfoResponse): readonly Refused[] =>
  features.filter(({ capability }) => !isClaimed(info.capabilities, `load_balancers.${capability}`));

const otherRefusals: readonly Refusal[] = [
  {
    id: "lb.ensure.bad-class",
    title: "a class that is not declared is refused with CLASS_UNSUPPORTED",
    rules: ["LB-6"],
    why: "A load balancer of another class belongs to another controller.",
    cases: () => [
      {
        what: "an unknown class",
        desired: { spec: { class: "conformance.example.com/none" } },
        reasons: ["CLASS_UNSUPPORTED"],
        field: "spec.class",
      },
    ],
  },
  {
    id: "lb.ensure.bad-annotation",
    title: "an annotation of the provider's own with a value that it does not take is ANNOTATION_INVALID",
    rules: ["LB-16"],
    why: "A misspelled value that is ignored is found when it is needed.",
    cases: ({ annotations }) =>
      annotations.flatMap(({ key, type }) => {
        const value = badValues[type];
        if (value === undefined) return [];
        const desired = { spec: { annotations: { [key]: value } } };
        const field = `spec.annotations[${JSON.stringify(key)}]`;
        return [{ what: `${key}: ${value}`, desired, reasons: ["ANNOTATION_INVALID"], field }];
      }),
  },
  {
    id: "lb.ensure.undeclared",
    title: "a feature that is not declared is refused with FEATURE_UNSUPPORTED and its path",
    rules: ["LB-6"],
    why: "Source ranges that are ignored let everybody in.",
    cases: undeclaredIn,
  },
  {
    id: "lb.ensure.bad-health-check",
    title: "a health check that does not say how to ask is refused",
    rules: ["LB-6"],
    why: "A check that cannot be made takes every node out.",
    cases: () => [
      {
        what: "a check of no kind",
        desired: { spec: { healthCheck: { port: 30_000 } } },
        reasons: ["FIELD_MISSING", "FIELD_INVALID"],
        field: "spec.health_check",
      },
    ],
  },
  {
    id: "lb.ensure.empty-ranges",
    title: "source ranges without any range are refused",
    rules: ["SHAPE-5", "LIM-1"],
    why: "A list that was lost on the way must not be read as everybody.",
    cases: () => [
      {
        what: "no ranges",
        desired: { spec: { sourceRanges: { cidrs: [] } } },
        reasons: ["FIELD_MISSING", ...undeclared],
        field: "spec.source_ranges",
      },
    ],
  },
  {
    id: "lb.ensure.bad-range",
    title: "a source range that is none is refused",
    rules: ["LIM-1", "ERR-5"],
    why: "The result in the cloud is undefined.",
    cases: () => [
      {
        what: "a range of 33 bits",
        desired: { spec: { sourceRanges: { cidrs: ["10.0.0.0/33"] } } },
        reasons: ["FIELD_INVALID", ...undeclared],
        field: "spec.source_ranges",
      },
    ],
  },
  {
    id: "lb.ensure.bad-ip",
    title: "a requested address that is none is refused",
    rules: ["LIM-1", "ERR-5"],
    why: "The user would get another address than the one that DNS has.",
    cases: () => [
      {
        what: "address 300.1.1.1",
        desired: { spec: { requestedIps: ["300.1.1.1"] } },
        reasons: ["FIELD_INVALID", ...undeclared],
        field: "spec.requested_ips",
      },
    ],
  },
  {
    id: "lb.nodes.no-source",
    title: "nodes that are neither inline nor a set nor unchanged are refused, and not read as none",
    rules: ["LB-9"],
    why: "A part of the request that a proxy lost would take all nodes out.",
    cases: () => [
      {
        what: "nodes of nowhere",
        desired: { nodes: { fingerprint: "nodes-1", count: 0 } },
        reasons: ["FIELD_MISSING", "FIELD_INVALID"],
        field: "nodes",
      },
    ],
  },
];

const refusals: readonly Refusal[] = [...ports, ...otherRefusals];

/** Why a spec was not rejected as it has to be; undefined: it was. */
const problemOf = (called: Called<unknown>, { what, reasons, field }: Refused): string | undefined => {
  if (called.kind !== "error") return `${what}: ${outcomeLine(called)}`;
  const problem = errorProblem(called.error, { codes: [3], reasons });
  if (problem !== undefined) return `${what}: ${outcomeLine(called)}; right is ${reasons.join(" or ")}`;
  if (called.error.fields.some((path) => path.startsWith(field))) return undefined;
  return `${what}: names ${called.error.fields.join(", ") || "no field"}; right is ${field}`;
};

const ask = (context: CheckContext, { desired }: Refused, validateOnly: boolean) =>
  new TestBalancer(context).ensure({ ...desired, change: { validateOnly } });

/** What two refusals of the same have in common: messages may name the object. */
const reported = (called: Called<unknown>): string =>
  called.kind === "error"
    ? [codeName(called.error.code), called.error.infos[0]?.reason, ...called.error.fields.toSorted()].join(" ")
    : outcomeLine(called);

const validating = { profile: "loadbalancer", capability: "load_balancers.validate_only" } as const;

const ofRefusal = ({ cases, ...texts }: Refusal): Check => ({
  ...texts,
  ...validating,
  level: "S",
  run: async (context) => {
    const refused = cases(context.info);
    if (refused.length === 0) throw new CheckSkipped("the provider accepts everything of the kind");
    for (const one of refused) {
      const called = await ask(context, one, true);
      const got = problemOf(called, one);
      if (got !== undefined) fail({ message: "it is not refused as it has to be", got, exchange: called.exchange });
    }
  },
});

const all = (context: CheckContext): readonly Refused[] => refusals.flatMap(({ cases }) => cases(context.info));

/** Specs of load balancers that every provider has to reject. */
export const refusalChecks: readonly Check[] = [
  ...refusals.map(ofRefusal),
  {
    id: "lb.ensure.refused",
    level: "M",
    profile: "loadbalancer",
    exclusive: true,
    timeoutMs: 60_000,
    title: "what must be refused is refused when it is meant, and makes nothing",
    rules: ["LB-6", "LB-9", "ERR-5"],
    why: "The provider creates half a load balancer before it validates the rest of the spec.",
    run: async (context) => {
      const problems: string[] = [];
      for (const one of all(context)) {
        const balancer = new TestBalancer(context);
        const problem = problemOf(await balancer.ensure(one.desired), one);
        const made = await balancer.get();
        if (problem !== undefined) problems.push(problem);
        else if (made !== undefined) problems.push(`${one.what}: refused, and ${made.id} is there`);
      }
      expectNone(problems, "specs are not rejected as they have to be");
    },
  },
  {
    ...validating,
    id: "lb.validate.same-errors",
    level: "M",
    exclusive: true,
    timeoutMs: 60_000,
    title: "validate_only fails exactly as the real call does",
    rules: ["RPC-3"],
    why: "A dry run must report the errors that the change would meet.",
    run: async (context) => {
      const problems: string[] = [];
      for (const one of all(context)) {
        const [asked, meant] = [await ask(context, one, true), await ask(context, one, false)];
        const [first, second] = [asked, meant].map(reported);
        if (first !== second) problems.push(`${one.what}: validate_only ${first}; the real call ${second}`);
      }
      expectNone(problems, "validate_only answers something else");
    },
  },
];
