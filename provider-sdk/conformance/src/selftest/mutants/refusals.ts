import { methods } from "../../contract/methods.ts";
import { type ErrorParts, errorParts, forgive, type Mutant, okReply, requestOf } from "../mutant.ts";
import type { Intercept } from "../mutant-proxy.ts";

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
  intercept: forgive(ensure.name, ({ fields }) => isForgiven(fields.join(" "))),
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
    intercept: forgive(ensure.name, isReason("PORT_PROTOCOL_UNSUPPORTED")),
  },
  {
    name: "checks-questions-only",
    fault: "wishes are checked only with validate_only",
    fails: ["lb.adopt", "lb.ensure.refused", "lb.validate.same-errors"],
    level: "M",
    intercept: refusesOnlyQuestions,
  },
];
