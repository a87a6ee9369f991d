import { IpFamily } from "@cloudwire/proto/cloudprovider/v1/common";
import { Protocol } from "@cloudwire/proto/cloudprovider/v1/identity";
import type { LoadBalancerSpec } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { randomUUID } from "node:crypto";
import { methods } from "../../contract/methods.ts";
import { alterAnswer, type Mutant } from "../mutant.ts";
import type { Intercept } from "../mutant-proxy.ts";
import { refused, wished } from "./load-balancers.ts";

const level = "M";

/** Changes the spec that Ensure asks for. */
const spec = (alter: (spec: LoadBalancerSpec, uid: string) => LoadBalancerSpec): Intercept =>
  wished((asked) => ({ ...asked, spec: asked.spec && alter(asked.spec, asked.service?.uid ?? "") }));

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
    intercept: alterAnswer(methods.getLoadBalancer, (answer) => ({
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
    intercept: wished((asked) => ({ ...asked, adopt: undefined })),
  },
  {
    name: "adopts-other-spellings",
    fault: "an id in capitals is taken for the id",
    fails: ["lb.adopt"],
    level,
    intercept: wished((asked) => ({
      ...asked,
      adopt: asked.adopt && { loadBalancerId: asked.adopt.loadBalancerId.toLowerCase() },
    })),
  },
];
