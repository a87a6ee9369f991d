import { expect, test } from "vitest";
import { type Seen, toLoadBalancer } from "./to-load-balancer.ts";

const tags = {
  "cloudwire.dev/service-uid": "uid-1",
  "kubernetes.io/service-name": "default/web",
  "cloudwire.dev/spec-fingerprint": "spec-1",
  "cloudwire.dev/nodes-fingerprint": "nodes-1",
};
type State = "active" | "active_impaired" | "provisioning" | "failed";

const seen = (state: State, more: Partial<Seen["balancer"]["details"]> = {}): Seen => ({
  balancer: {
    arn: "arn:lb",
    name: "k8s-1",
    tags,
    details: { DNSName: "lb.example.com", State: { Code: state }, ...more },
  },
  groups: [{ arn: "arn:tg", name: "cw-1", details: { Protocol: "TCP", Port: 30080, LoadBalancerArns: ["arn:lb"] } }],
  securityGroups: [],
});

const inForce = { ingress: [{ hostname: "lb.example.com" }], specFingerprint: "spec-1", nodesFingerprint: "nodes-1" };
const notYet = { ingress: undefined, specFingerprint: "", nodesFingerprint: "" };

test.each([
  ["active", { phase: "ACTIVE", operation: undefined, ...inForce }],
  ["active_impaired", { phase: "ACTIVE", operation: undefined, ...inForce }],
  [
    "provisioning",
    { phase: "PROVISIONING", operation: { pollAfterMs: 10_000, stage: "provisioning at AWS" }, ...notYet },
  ],
  ["failed", { phase: "FAILED", operation: undefined, ...notYet }],
] as const)("toLoadBalancer() maps a load balancer that is %s", (state, expected) => {
  const { phase, operation, ingress, specFingerprint, nodesFingerprint } = toLoadBalancer(seen(state));
  expect({ phase, operation, ingress, specFingerprint, nodesFingerprint }).toEqual(expected);
});

test("toLoadBalancer() returns the host name as a Service's status permits it: an adopted load balancer may have capitals", () => {
  const { ingress } = toLoadBalancer(seen("active", { DNSName: "My-Web-1a2B.elb.eu-west-1.amazonaws.com" }));
  expect(ingress).toEqual([{ hostname: "my-web-1a2b.elb.eu-west-1.amazonaws.com" }]);
});

test("toLoadBalancer() returns the Service in the ownership tags", () => {
  expect(toLoadBalancer(seen("active")).service).toEqual({ namespace: "default", name: "web", uid: "uid-1" });
});

test("toLoadBalancer() keeps the observed fingerprint when the nodes are updated, so that an earlier change stays visible (case S-12)", () => {
  const of = ({ balancer, ...rest }: Seen, tags: Readonly<Record<string, string>>) =>
    toLoadBalancer({ ...rest, balancer: { ...balancer, tags: { ...balancer.tags, ...tags } } }).observedFingerprint;
  const before = toLoadBalancer(seen("active")).observedFingerprint;
  expect(of(seen("active"), { "cloudwire.dev/nodes-fingerprint": "other" })).toBe(before);
  expect(of(seen("active"), { "cloudwire.dev/spec-fingerprint": "other" })).not.toBe(before);
});

test("toLoadBalancer() changes the observed fingerprint after an external change, but not when the state changes", () => {
  const of = (one: Seen) => toLoadBalancer(one).observedFingerprint;
  const before = of(seen("active"));
  expect(of(seen("provisioning"))).toBe(before);
  expect(of(seen("active", { SecurityGroups: ["sg-1"] }))).not.toBe(before);
  expect(of({ ...seen("active"), groups: [] })).not.toBe(before);
  expect(of({ ...seen("active"), securityGroups: [{ GroupId: "sg-1" }] })).not.toBe(before);
});
