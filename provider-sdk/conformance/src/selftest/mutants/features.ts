import { randomUUID } from "node:crypto";
import { IpFamily } from "@cloudwire/proto/cloudprovider/v1/common";
import { Protocol } from "@cloudwire/proto/cloudprovider/v1/identity";
import type { LoadBalancerSpec } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { methods } from "../../contract/methods.ts";
import type { Intercept } from "../mutant-proxy.ts";
import {
  type ErrorParts,
  type Mutant,
  alterResponse,
  errorParts,
  suppressErrors,
  okReply,
  requestOf,
} from "../mutant.ts";
import { refused, ensureRequests } from "./load-balancers.ts";

const level = "M";

/** Changes the spec that Ensure asks for. */
const spec = (alter: (spec: LoadBalancerSpec, uid: string) => LoadBalancerSpec): Intercept =>
  ensureRequests((asked) => ({ ...asked, spec: asked.spec && alter(asked.spec, asked.service?.uid ?? "") }));

/** What was asked for once, by Service. */
const ranges = new Map<string, LoadBalancerSpec["sourceRanges"]>();
const affinities = new Map<string, LoadBalancerSpec["sessionAffinity"]>();
const ports = new Map<string, LoadBalancerSpec["ports"]>();

/** What is asked for, or was asked for before. */
const sticky = <Value>(known: Map<string, Value>, uid: string, asked: Value): Value => {
  if (asked !== undefined) known.set(uid, asked);
  return asked ?? known.get(uid) ?? asked;
};

/** Ports that were ever asked for. */
const allPorts = (uid: string, asked: LoadBalancerSpec["ports"]): LoadBalancerSpec["ports"] => {
  const earlier = (ports.get(uid) ?? []).filter(({ port }) => !asked.some((one) => one.port === port));
  const all = [...asked, ...earlier];
  ports.set(uid, all);
  return all;
};

/** Faults of what load balancers can be asked for beyond ports and nodes. */
export const featureMutants: readonly Mutant[] = [
  {
    name: "ranges-sticky",
    fault: "source ranges never go",
    fails: ["lb.ensure.source-ranges"],
    level,
    intercept: spec((asked, uid) => ({ ...asked, sourceRanges: sticky(ranges, uid, asked.sourceRanges) })),
  },
  {
    name: "affinity-sticky",
    fault: "session affinity never goes",
    fails: ["lb.ensure.session-affinity"],
    level,
    intercept: spec((asked, uid) => ({ ...asked, sessionAffinity: sticky(affinities, uid, asked.sessionAffinity) })),
  },
  {
    name: "udp-as-tcp",
    fault: "UDP ports are made as TCP",
    fails: [
      "lb.ensure.bad-proto",
      "lb.ensure.mixed-protocols",
      "lb.ensure.refused",
      "lb.ensure.udp",
      "val.fields.ensure-load-balancer",
    ],
    level,
    intercept: spec((asked) => ({
      ...asked,
      ports: asked.ports.map((port) => ({ ...port, protocol: Protocol.TCP })),
    })),
  },
  {
    name: "one-protocol",
    fault: "of a number with two protocols one is made",
    fails: [
      "lb.ensure.dup-port",
      "lb.ensure.mixed-protocols",
      "lb.ensure.port-order",
      "lb.ensure.refused",
      "lb.ensure.remove-port",
      "val.fields.ensure-load-balancer",
    ],
    level,
    intercept: spec((asked) => ({ ...asked, ports: asked.ports.slice(0, 1) })),
  },
  {
    name: "never-removes-port",
    fault: "ports that were open once stay open",
    fails: ["lb.ensure.remove-port"],
    level,
    // Most checks see it, and which of them fail depends on what ran before.
    only: ["lb.ensure.remove-port"],
    intercept: spec((asked, uid) => ({ ...asked, ports: allPorts(uid, asked.ports) })),
  },
  {
    name: "v4-only",
    fault: "two families are claimed and one is made",
    fails: ["lb.ensure.dual-stack"],
    level,
    only: ["lb.ensure.dual-stack"],
    intercept: spec((asked) => ({ ...asked, ipFamilies: [IpFamily.IPV4] })),
  },
  {
    name: "no-tags",
    fault: "tags are not kept",
    fails: ["lb.ensure.tags"],
    level,
    // Most checks see it, and which of them fail depends on what ran before.
    only: ["lb.ensure.tags"],
    intercept: spec((asked) => ({ ...asked, tags: {} })),
  },
  {
    name: "ip-ignored",
    fault: "a requested address is ignored in silence",
    fails: [
      "lb.ensure.address-in-use",
      "lb.ensure.bad-ip",
      "lb.ensure.refused",
      "lb.ensure.requested-ip",
      "val.fields.ensure-load-balancer",
    ],
    level,
    intercept: spec((asked) => ({ ...asked, requestedIps: [] })),
  },
  {
    name: "op-required",
    fault: "an operation that is not known is an error",
    fails: ["lb.ensure.lost-op"],
    level,
    // Most checks see it, and which of them fail depends on what ran before.
    only: ["lb.ensure.lost-op"],
    intercept: refused(({ operationId }) => operationId !== ""),
  },
  {
    name: "annotation-strict",
    fault: "annotations of others are refused",
    fails: ["lb.ensure.foreign-annotation"],
    level,
    // Most checks see it, and which of them fail depends on what ran before.
    only: ["lb.ensure.foreign-annotation"],
    intercept: refused(({ spec: asked }) =>
      Object.keys(asked?.annotations ?? {}).some((key) => !key.startsWith("acme.")),
    ),
  },
  {
    name: "observed-random",
    fault: "observed_fingerprint is another in each read",
    fails: ["lb.observed.stable", "lb.watch.initial.equals-get"],
    level,
    intercept: alterResponse(methods.getLoadBalancer, (answer) => ({
      ...answer,
      outcome:
        answer.outcome?.$case === "loadBalancer"
          ? ({ $case: "loadBalancer", value: { ...answer.outcome.value, observedFingerprint: randomUUID() } } as const)
          : answer.outcome,
    })),
  },
  {
    name: "adopts-nothing",
    fault: "instead of taking one over another is made",
    fails: ["lb.adopt"],
    level,
    intercept: ensureRequests((asked) => ({ ...asked, adopt: undefined })),
  },
  {
    name: "adopts-other-spellings",
    fault: "an id in capitals is taken for the id",
    fails: ["lb.adopt"],
    level,
    intercept: ensureRequests((asked) => ({
      ...asked,
      adopt: asked.adopt && { loadBalancerId: asked.adopt.loadBalancerId.toLowerCase() },
    })),
  },
];

const ensure = methods.ensureLoadBalancer;

/** All checks of refusals. */
const only = [
  ...["no-ports", "dup-port", "undeclared", "empty-ranges"].map((name) => `lb.ensure.${name}`),
  ...["proto", "class", "annotation", "health-check", "range", "ip"].map((name) => `lb.ensure.bad-${name}`),
  "lb.nodes.no-source",
];

/** A provider that serves what names a field. */
const lenient = (name: string, fault: string, check: string, isForgiven: (paths: string) => boolean): Mutant => ({
  name,
  fault,
  fails: [check],
  only,
  intercept: suppressErrors(ensure.name, ({ fields }) => isForgiven(fields.join(" "))),
});

/** Takes what is meant, and refuses what is only asked. */
const refusesOnlyQuestions: Intercept = async (request, next) => {
  const asked = requestOf(request, ensure);
  const reply = await next(request);
  const meant = asked !== undefined && asked.change?.validateOnly !== true;
  return meant && errorParts(reply)?.code === 3 ? okReply(Buffer.alloc(0)) : reply;
};

const isReason = (reason: string) => (error: ErrorParts & { readonly reason: string }) => error.reason === reason;

/** Faults of what a provider lets pass that it must refuse. */
export const refusalMutants: readonly Mutant[] = [
  lenient(
    "no-ports-ok",
    "a load balancer without ports is made",
    "lb.ensure.no-ports",
    (path) => path === "spec.ports",
  ),
  lenient("dup-ports-ok", "the same port is taken twice", "lb.ensure.dup-port", (path) => path === "spec.ports[1]"),
  lenient("any-class", "any class is taken", "lb.ensure.bad-class", (path) => path === "spec.class"),
  lenient("annotation-lenient", "annotations with wrong values are ignored", "lb.ensure.bad-annotation", (path) =>
    path.startsWith("spec.annotations"),
  ),
  lenient(
    "undeclared-ignored",
    "what was not declared is ignored",
    "lb.ensure.undeclared",
    (path) => path === "spec.external_traffic_policy",
  ),
  lenient("any-health-check", "a health check of no kind is taken", "lb.ensure.bad-health-check", (path) =>
    path.startsWith("spec.health_check"),
  ),
  lenient(
    "empty-ranges-are-everybody",
    "no range is everybody",
    "lb.ensure.empty-ranges",
    (path) => path === "spec.source_ranges.cidrs",
  ),
  lenient("any-range", "any text is a range", "lb.ensure.bad-range", (path) =>
    path.startsWith("spec.source_ranges.cidrs["),
  ),
  lenient("any-ip", "any text is an address", "lb.ensure.bad-ip", (path) => path.startsWith("spec.requested_ips")),
  lenient("no-source-is-none", "nodes of nowhere are none", "lb.nodes.no-source", (path) => path === "nodes.source"),
  {
    name: "sctp-as-tcp",
    fault: "protocols that were not declared are taken",
    fails: ["lb.ensure.bad-proto", "lb.ensure.refused"],
    intercept: suppressErrors(ensure.name, isReason("PORT_PROTOCOL_UNSUPPORTED")),
  },
  {
    name: "checks-questions-only",
    fault: "specs are checked only with validate_only",
    fails: ["lb.adopt", "lb.ensure.refused", "lb.validate.same-errors"],
    level: "M",
    intercept: refusesOnlyQuestions,
  },
];
