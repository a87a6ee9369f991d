import { isIP } from "node:net";
import { IpFamily } from "@cloudwire/proto/cloudprovider/v1/common";
import { Protocol } from "@cloudwire/proto/cloudprovider/v1/identity";
import type { LoadBalancer } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { type Check, type CheckContext, CheckSkipped } from "../../suite/check.ts";
import { expectError, fail, show } from "../../suite/expect.ts";
import { lifeMs, TestBalancer, type DesiredBalancer, withBalancer } from "./test-balancer.ts";

const base = {
  level: "M",
  profile: "loadbalancer",
  exclusive: true,
  timeoutMs: lifeMs,
  requires: ["lb.ensure.active"],
} as const;

const ipsOf = ({ ingress }: LoadBalancer): readonly string[] =>
  (ingress?.items ?? []).flatMap(({ ip }) => (ip === undefined ? [] : [ip]));

/** Ports that the ingresses report, `TCP 80`; none: the cloud does not report them. */
const portsOf = ({ ingress }: LoadBalancer): readonly string[] => [
  ...new Set(
    (ingress?.items ?? []).flatMap(({ ports }) =>
      ports.map(({ port, protocol }) => `${protocol === Protocol.UDP ? "UDP" : "TCP"} ${port}`),
    ),
  ),
];

const port = (number: number, protocol: Protocol) => ({ port: number, protocol, nodePort: 30_000 + number });

/** Fails if the ingresses report other ports than those. */
const expectPorts = (made: LoadBalancer, ...expected: readonly string[]): void => {
  const reported = portsOf(made).toSorted();
  if (reported.length > 0 && show(reported) !== show(expected.toSorted()))
    fail({ message: "the ingresses have other ports", expected: show(expected), got: show(reported) });
};

const misspelled = { codes: [3], reasons: ["FIELD_INVALID"], field: "adopt.load_balancer_id" };

/** Texts that a cloud, or a library, may take for the same id. */
const otherSpellings = (id: string): readonly string[] =>
  [id.toUpperCase(), id.toLowerCase(), ` ${id}`, `${id}/`].filter((text) => text !== id);

/** What is asked for comes, without another load balancer, and goes when it is asked for no longer. */
const comesAndGoes = async (
  balancer: TestBalancer,
  what: string,
  spec: NonNullable<DesiredBalancer["spec"]>,
): Promise<void> => {
  const plain = await balancer.converge();
  const ensureRequests = await balancer.converge({ spec });
  const back = await balancer.converge();
  if (ensureRequests.id !== plain.id || back.id !== plain.id)
    fail({ message: "it is another one", expected: plain.id, got: show([ensureRequests.id, back.id]) });
  const { specFingerprint } = balancer.request();
  if (back.specFingerprint !== specFingerprint)
    fail({ message: "the last spec is not in force", expected: show(specFingerprint), got: back.specFingerprint });
  // Not every provider reports what it reads; one that does shows each change by another value (LB-13).
  if (plain.observedFingerprint === "") return;
  const expectChange = (message: string, one: LoadBalancer, other: LoadBalancer): void => {
    if (one.observedFingerprint === other.observedFingerprint)
      fail({ message, expected: "another observed_fingerprint", got: one.observedFingerprint });
  };
  expectChange(`${what} changed nothing in the cloud`, plain, ensureRequests);
  expectChange(`${what} did not go`, ensureRequests, back);
};

const asked: readonly Check[] = [
  {
    ...base,
    id: "lb.ensure.source-ranges",
    title: "source ranges come, and go when they are asked for no longer",
    rules: ["LB-2", "LB-13"],
    why: "Ranges that stay shut out clients that the user lets in; ranges that never come let everybody in.",
    capability: "load_balancers.source_ranges",
    run: (context) =>
      withBalancer(context, (balancer) =>
        comesAndGoes(balancer, "the range", { sourceRanges: { cidrs: ["198.51.100.0/24"] } }),
      ),
  },
  {
    ...base,
    id: "lb.ensure.session-affinity",
    title: "session affinity comes, and goes when it is asked for no longer",
    rules: ["LB-2", "LB-13"],
    why: "Clients that stay with a node for ever keep a new one without work.",
    capability: "load_balancers.session_affinity",
    run: (context) =>
      withBalancer(context, (balancer) =>
        comesAndGoes(balancer, "the affinity", { sessionAffinity: { timeout: { seconds: 600n, nanos: 0 } } }),
      ),
  },
  {
    ...base,
    id: "lb.ensure.udp",
    title: "a UDP port is a UDP port",
    rules: ["LB-2", "LB-6"],
    why: "DNS over UDP fails on a port that was created as TCP.",
    capability: "load_balancers.protocols.PROTOCOL_UDP",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        expectPorts(await balancer.converge({ spec: { ports: [port(53, Protocol.UDP)] } }), "UDP 53");
      }),
  },
  {
    ...base,
    id: "lb.ensure.mixed-protocols",
    title: "one number serves TCP and UDP side by side",
    rules: ["LB-2", "LB-6"],
    why: "DNS and HTTP/3 need both; the one that is left out fails for some clients only.",
    capability: "load_balancers.mixed_protocols",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const ports = [port(53, Protocol.TCP), port(53, Protocol.UDP)];
        expectPorts(await balancer.converge({ spec: { ports } }), "TCP 53", "UDP 53");
      }),
  },
  {
    ...base,
    id: "lb.ensure.remove-port",
    title: "a removed port is gone from the ingresses",
    rules: ["LB-2"],
    why: "What the user has closed stays open to the world.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        expectPorts(await balancer.converge({ ports: [80, 443] }), "TCP 80", "TCP 443");
        expectPorts(await balancer.converge({ ports: [443] }), "TCP 443");
      }),
  },
  {
    ...base,
    id: "lb.ensure.dual-stack",
    title: "two IP families give an ingress of each",
    rules: ["LB-6"],
    why: "Clients of the missing family get no address, without any message.",
    capability: "load_balancers.dual_stack",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const made = await balancer.converge({ spec: { ipFamilies: [IpFamily.IPV4, IpFamily.IPV6] } });
        const ips = ipsOf(made);
        // A name may lead to both.
        if (ips.length === 0) return;
        const families = new Set(ips.map((ip) => isIP(ip)));
        if (families.size !== 2) fail({ message: "a family is missing", expected: "IPv4 and IPv6", got: show(ips) });
      }),
  },
  {
    ...base,
    id: "lb.ensure.tags",
    title: "tags come on the load balancer, and go when they are asked for no longer",
    rules: ["LB-2", "LB-6"],
    why: "They are used to allocate costs.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const key = "conformance-tag";
        const reported: string[] = [];
        await balancer.converge({ spec: { tags: { [key]: "one" } } }, (called) => {
          if (called.kind === "ok") reported.push(...called.response.diagnostics.map(({ reason }) => reason));
        });
        const { tags = {} } = (await balancer.get()) ?? {};
        if (tags[key] !== "one" && reported.length === 0)
          fail({
            message: "the tag of the spec is not in `tags` of GetLoadBalancer, and no diagnostic says why",
            expected: `${key}: one`,
            got: show(tags),
          });
        await balancer.converge();
        const { tags: left = {} } = (await balancer.get()) ?? {};
        if (left[key] !== undefined) fail({ message: "the tag did not go", got: show(left) });
      }),
  },
];

/** An address of a load balancer that serves. */
const addressOf = async (balancer: TestBalancer): Promise<string> => {
  const [ip] = ipsOf(await balancer.converge());
  if (ip === undefined) throw new CheckSkipped("the ingresses of this cloud have no addresses");
  return ip;
};

/** An address that the cloud has given to a load balancer, which has gone. */
const addressThatWas = async (balancer: TestBalancer): Promise<string> => {
  const ip = await addressOf(balancer);
  await balancer.remove();
  return ip;
};

/** Requests an address: the outcome, and what was reported to the user. */
const askFor = async (balancer: TestBalancer, ip: string) => {
  const desired = { spec: { requestedIps: [ip] } };
  const first = await balancer.ensure(desired);
  if (first.kind === "error") {
    expectError(first, { codes: [6], reasons: ["ADDRESS_IN_USE"] }, `a request for ${ip}`);
    return undefined;
  }
  const reported: string[] = [];
  const made = await balancer.converge(desired, (called) => {
    if (called.kind === "ok") reported.push(...called.response.diagnostics.map(({ reason }) => reason));
  });
  return { ips: ipsOf(made), reported };
};

const withTwo = (context: CheckContext, use: (one: TestBalancer, other: TestBalancer) => Promise<void>) =>
  withBalancer(context, (one) => withBalancer(context, (other) => use(one, other)));

const addresses: readonly Check[] = [
  {
    ...base,
    id: "lb.ensure.requested-ip",
    title: "the load balancer gets a requested address that is free, or a diagnostic reports it",
    rules: ["LB-6"],
    why: "The address is already in DNS records: clients do not find another one.",
    capability: "load_balancers.requested_ip",
    run: (context) =>
      withTwo(context, async (one, other) => {
        const ip = context.fixtures.loadBalancer?.requestedIp ?? (await addressThatWas(one));
        const got = await askFor(other, ip);
        if (got !== undefined && !got.ips.includes(ip) && got.reported.length === 0)
          fail({ message: "it has another address, and no diagnostic reports it", expected: ip, got: show(got.ips) });
      }),
  },
  {
    ...base,
    id: "lb.ensure.address-in-use",
    title: "an address of another load balancer is ADDRESS_IN_USE, or a diagnostic reports it",
    rules: ["LB-6"],
    why: "Two load balancers with one address receive each other's traffic; a silently changed address is in no DNS record.",
    capability: "load_balancers.requested_ip",
    run: (context) =>
      withTwo(context, async (one, other) => {
        const ip = await addressOf(one);
        const got = await askFor(other, ip);
        if (got?.ips.includes(ip) === true) fail({ message: "two load balancers have one address", got: ip });
        if (got?.reported.length === 0)
          fail({
            message: "it has another address, and no diagnostic reports it",
            expected: "ADDRESS_IN_USE",
            got: show(got),
          });
      }),
  },
];

const others: readonly Check[] = [
  {
    ...base,
    id: "lb.ensure.lost-op",
    title: "without an operation ID, or with an unknown one, Ensure finds the same load balancer",
    rules: ["LB-3"],
    why: "A controller that starts again has lost the id.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const first = await balancer.converge();
        const lost = await balancer.converge({ more: { operationId: "conformance-lost" } });
        if (lost.id !== first.id) fail({ message: "it is another one", expected: first.id, got: lost.id });
      }),
  },
  {
    ...base,
    id: "lb.ensure.foreign-annotation",
    title: "an annotation that the provider did not declare is ignored",
    rules: ["LB-16", "SHAPE-5"],
    why: "Services carry annotations of other programs.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const own = context.fixtures.loadBalancer?.annotations;
        await balancer.converge({ spec: { annotations: { ...own, "conformance.example.com/x": "y" } } });
      }),
  },
  {
    ...base,
    id: "lb.observed.stable",
    title: "observed_fingerprint stays the same while nothing changes",
    rules: ["LB-13"],
    why: "Any other value is drift, and the controller repairs drift: endless calls.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const { observedFingerprint } = await balancer.converge();
        for (let times = 0; times < 5; times++) {
          const got = (await balancer.get())?.observedFingerprint;
          if (got !== observedFingerprint)
            fail({ message: "it is another", expected: observedFingerprint, got: show(got) });
        }
      }),
  },
  {
    ...base,
    id: "lb.adopt",
    title: "a load balancer is adopted on an operator's request, by its exact ID, and is then owned by this cluster",
    rules: ["SHAPE-6"],
    why: "A cluster that was restored gets its addresses back by it; controllers see to it by ids that it takes none of a Service that lives.",
    capability: "load_balancers.adopt",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const other = new TestBalancer(context, "-other");
        try {
          const { id } = await other.converge();
          for (const spelling of otherSpellings(id)) {
            const called = await balancer.ensure({ more: { adopt: { loadBalancerId: spelling } } });
            expectError(called, misspelled, `adoption of ${id} as ${JSON.stringify(spelling)}`);
          }
          const adopted = await balancer.converge({ more: { adopt: { loadBalancerId: id } } });
          if (adopted.id !== id) fail({ message: "another one was made", expected: id, got: adopted.id });
          const left = await other.get();
          if (left !== undefined) fail({ message: "it is still the other cluster's", got: show(left) });
        } finally {
          await other.remove();
        }
        if ((await balancer.get()) === undefined)
          fail({ message: "the other cluster's deletion took it", expected: "it stays" });
      }),
  },
];

/** What load balancers can be asked for beyond ports and nodes. */
export const featureChecks: readonly Check[] = [...asked, ...addresses, ...others];
