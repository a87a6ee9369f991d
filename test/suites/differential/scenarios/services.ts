import type { Recorder } from "../recorder.ts";
import { type Scenario, merge, strategic, table } from "../scenario.ts";

const path = "/api/v1/namespaces/default/services";
const port = { port: 80 };

/** Specs that are accepted, each under a name of its own. */
const accepted: readonly (readonly [string, object])[] = [
  ["cluster-ip", { ports: [port] }],
  [
    "named-ports",
    {
      ports: [
        { name: "a", port: 80, targetPort: "http" },
        { name: "b", port: 80, protocol: "UDP", targetPort: 53 },
      ],
    },
  ],
  ["app-protocol", { ports: [{ port: 80, appProtocol: "kubernetes.io/h2c" }] }],
  ["selector", { ports: [port], selector: { app: "x" }, publishNotReadyAddresses: false }],
  ["headless", { clusterIP: "None", ports: [port], selector: { app: "x" } }],
  ["headless-no-selector", { clusterIP: "None", ports: [port] }],
  ["headless-no-ports", { clusterIP: "None", selector: { app: "x" } }],
  ["external-name", { type: "ExternalName", externalName: "example.com" }],
  ["external-name-dot", { type: "ExternalName", externalName: "example.com.", ports: [port] }],
  ["node-port", { type: "NodePort", ports: [port] }],
  ["node-port-chosen", { type: "NodePort", ports: [{ port: 80, nodePort: 30_010 }] }],
  [
    "node-port-shared",
    {
      type: "NodePort",
      ports: [
        { name: "t", port: 53 },
        { name: "u", port: 53, protocol: "UDP" },
      ],
    },
  ],
  ["balancer", { type: "LoadBalancer", ports: [port] }],
  ["balancer-local", { type: "LoadBalancer", ports: [port], externalTrafficPolicy: "Local" }],
  [
    "balancer-local-chosen",
    { type: "LoadBalancer", ports: [port], externalTrafficPolicy: "Local", healthCheckNodePort: 30_011 },
  ],
  ["balancer-no-ports", { type: "LoadBalancer", ports: [port], allocateLoadBalancerNodePorts: false }],
  ["balancer-class", { type: "LoadBalancer", ports: [port], loadBalancerClass: "example.com/lb" }],
  [
    "balancer-ranges",
    {
      type: "LoadBalancer",
      ports: [port],
      loadBalancerSourceRanges: ["10.0.0.0/8", " 192.168.0.0/16 "],
      loadBalancerIP: "10.1.1.1",
    },
  ],
  ["sticky", { ports: [port], sessionAffinity: "ClientIP" }],
  [
    "sticky-seconds",
    { ports: [port], sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } } },
  ],
  [
    "not-sticky",
    { ports: [port], sessionAffinity: "None", sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } } },
  ],
  ["external-ips", { ports: [port], externalIPs: ["192.0.2.7"] }],
  ["traffic", { ports: [port], internalTrafficPolicy: "Local", trafficDistribution: "PreferClose" }],
  ["prefer-dual", { ports: [port], ipFamilyPolicy: "PreferDualStack" }],
  ["chosen-ip", { ports: [port], clusterIP: "10.96.0.77" }],
  ["chosen-ips", { ports: [port], clusterIP: "10.96.0.78", clusterIPs: ["10.96.0.78"] }],
];

/** Specs that are refused. */
const refused: readonly (readonly [string, object])[] = [
  ["no-ports", {}],
  ["type", { type: "Bogus", ports: [port] }],
  ["port-zero", { ports: [{ port: 0 }] }],
  ["port-high", { ports: [{ port: 65_536, targetPort: 70_000 }] }],
  ["port-names-missing", { ports: [{ port: 80 }, { port: 81 }] }],
  [
    "port-names-double",
    {
      ports: [
        { name: "a", port: 80 },
        { name: "a", port: 81 },
      ],
    },
  ],
  ["port-name-bad", { ports: [{ name: "A_b", port: 80, targetPort: "too-long-a-port-name" }] }],
  [
    "port-double",
    {
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 80 },
      ],
    },
  ],
  ["protocol", { ports: [{ port: 80, protocol: "ICMP" }] }],
  ["target-name", { ports: [{ port: 80, targetPort: "123" }] }],
  ["target-dashes", { ports: [{ port: 80, targetPort: "-a--b-" }] }],
  ["node-port-low", { type: "NodePort", ports: [{ port: 80, nodePort: 80 }] }],
  ["node-port-taken", { type: "NodePort", ports: [{ port: 80, nodePort: 30_020 }] }],
  ["node-port-on-cluster-ip", { ports: [{ port: 80, nodePort: 30_030 }] }],
  [
    "node-port-double",
    {
      type: "NodePort",
      ports: [
        { name: "a", port: 80, nodePort: 30_031 },
        { name: "b", port: 81, nodePort: 30_031 },
      ],
    },
  ],
  ["headless-balancer", { type: "LoadBalancer", clusterIP: "None", ports: [port] }],
  ["headless-node-port", { type: "NodePort", clusterIP: "None", ports: [port] }],
  ["external-name-missing", { type: "ExternalName" }],
  ["external-name-bad", { type: "ExternalName", externalName: "_x" }],
  ["external-name-ip", { type: "ExternalName", externalName: "a.b", clusterIP: "10.96.0.99" }],
  ["affinity", { ports: [port], sessionAffinity: "Cookie" }],
  [
    "affinity-seconds",
    { ports: [port], sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } } },
  ],
  ["policy-on-cluster-ip", { ports: [port], externalTrafficPolicy: "Local" }],
  ["policy-bogus", { type: "LoadBalancer", ports: [port], externalTrafficPolicy: "Bogus" }],
  ["internal-bogus", { ports: [port], internalTrafficPolicy: "Bogus" }],
  ["distribution-bogus", { ports: [port], trafficDistribution: "Bogus" }],
  ["health-port-without-need", { type: "LoadBalancer", ports: [port], healthCheckNodePort: 30_032 }],
  ["ranges-on-cluster-ip", { ports: [port], loadBalancerSourceRanges: ["10.0.0.0/8"] }],
  ["ranges-bad", { type: "LoadBalancer", ports: [port], loadBalancerSourceRanges: ["10.0.0.0", "10.0.0.1/8"] }],
  ["class-on-cluster-ip", { ports: [port], loadBalancerClass: "a/b" }],
  ["class-bad", { type: "LoadBalancer", ports: [port], loadBalancerClass: "a b" }],
  ["allocate-on-cluster-ip", { ports: [port], allocateLoadBalancerNodePorts: true }],
  ["external-ips-bad", { ports: [port], externalIPs: ["x", "127.0.0.1", "0.0.0.0", "169.254.0.1", "010.0.0.1"] }],
  ["ip-outside", { ports: [port], clusterIP: "10.97.0.1" }],
  ["ip-taken", { ports: [port], clusterIP: "10.96.0.1" }],
  ["ip-bad", { ports: [port], clusterIP: "x" }],
  ["ips-differ", { ports: [port], clusterIP: "10.96.0.70", clusterIPs: ["10.96.0.71"] }],
  ["ips-without-ip", { ports: [port], clusterIPs: ["10.96.0.72"] }],
  ["ipv6-family", { ports: [port], ipFamilies: ["IPv6"] }],
  ["family-bogus", { ports: [port], ipFamilies: ["IPv5"] }],
  ["family-policy-bogus", { ports: [port], ipFamilyPolicy: "Bogus" }],
  ["dual-required", { ports: [port], ipFamilyPolicy: "RequireDualStack" }],
  ["selector-bad", { ports: [port], selector: { "a b": "c d" } }],
];

async function createBalancer({ call }: Recorder, name: string, spec: object = {}): Promise<void> {
  await call("POST", path, { body: { metadata: { name }, spec: { type: "LoadBalancer", ports: [port], ...spec } } });
}

export const serviceScenarios: readonly Scenario[] = [
  {
    name: "service: accepted specs and their defaults",
    run: async ({ call }) => {
      for (const [name, spec] of accepted) {
        await call("POST", path, { body: { metadata: { name: `ok-${name}` }, spec } });
        await call("GET", `${path}/ok-${name}`, { accept: table });
      }
      await call("GET", `${path}?fieldSelector=spec.type%3DExternalName`);
      await call("GET", `${path}?fieldSelector=spec.clusterIP%3DNone`);
      await call("GET", `${path}?fieldSelector=spec.ports%3DNone`);
    },
  },
  {
    name: "service: refused specs",
    run: async ({ call, quietly }) => {
      await quietly("POST", path, {
        body: { metadata: { name: "taker" }, spec: { type: "NodePort", ports: [{ port: 80, nodePort: 30_020 }] } },
      });
      for (const [name, spec] of refused) {
        // Not as a dry run, which checks less of what is allocated.
        await call("POST", path, { body: { metadata: { name: `bad-${name}` }, spec } });
      }
      for (const name of ["1abc", "Upper", "a.b", "x".repeat(64), ""]) {
        await call("POST", `${path}?dryRun=All`, { body: { metadata: { name }, spec: { ports: [port] } } });
      }
      await call("POST", `${path}?dryRun=All`, {
        body: {
          metadata: { name: "ranges", annotations: { "service.beta.kubernetes.io/load-balancer-source-ranges": "x" } },
          spec: { ports: [port] },
        },
      });
    },
  },
  {
    name: "service: status is written apart, metadata with it",
    run: async (recorder) => {
      const { call } = recorder;
      const service = `${path}/status`;
      const ingress = (entries: readonly object[]) => ({ status: { loadBalancer: { ingress: entries } } });
      await createBalancer(recorder, "status");
      await call("PATCH", `${service}/status`, {
        contentType: merge,
        body: {
          metadata: {
            annotations: { a: "b" },
            labels: { c: "d" },
            finalizers: ["service.kubernetes.io/load-balancer-cleanup"],
          },
          spec: { type: "ClusterIP" },
          ...ingress([{ ip: "192.0.2.1", ipMode: "Proxy", ports: [{ port: 80, protocol: "TCP" }] }]),
        },
      });
      for (const contentType of [merge, strategic]) {
        const patch = (body: object) => call("PATCH", `${service}/status`, { contentType, body });
        await patch(ingress([{ ip: "192.0.2.2" }]));
        await patch(ingress([{ ip: "192.0.2.2", ipMode: "VIP" }]));
        await patch(ingress([{ hostname: "lb.example.com" }]));
        await patch(ingress([{ ip: "192.0.2.2", ipMode: "Bogus" }]));
        await patch(ingress([{ ip: "x", ipMode: "VIP" }]));
        await patch(ingress([{ hostname: "192.0.2.3", ipMode: "VIP" }]));
        await patch(ingress([{ hostname: "_bad" }]));
        await patch({
          status: {
            conditions: [
              { type: "Ready", status: "True", reason: "R", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" },
            ],
          },
        });
      }
      const { body } = await call("GET", service);
      await call("PUT", `${service}/status`, { body });
      await call("PATCH", service, { contentType: merge, body: ingress([]) });
      await call("PATCH", `${service}/status`, { contentType: merge, body: { status: { loadBalancer: null } } });
      await call("POST", path, {
        body: {
          metadata: { name: "status-at-creation" },
          spec: { type: "LoadBalancer", ports: [port] },
          ...ingress([{ ip: "192.0.2.1" }]),
        },
      });
      await call("POST", path, { body: { metadata: { name: "no-balancer" }, spec: { ports: [port] } } });
      await call("PATCH", `${path}/no-balancer/status`, {
        contentType: merge,
        body: ingress([{ ip: "192.0.2.1", ipMode: "VIP" }]),
      });
      await call("DELETE", service);
      await call("PATCH", `${service}/status`, { contentType: merge, body: { metadata: { finalizers: null } } });
      await call("GET", service);
    },
  },
  {
    name: "service: changes of type keep and drop fields",
    run: async (recorder) => {
      const { call } = recorder;
      const service = `${path}/types`;
      const change = (spec: object) => call("PATCH", service, { contentType: merge, body: { spec } });
      await createBalancer(recorder, "types", { externalTrafficPolicy: "Local", loadBalancerClass: "a.b/c" });
      await call("PATCH", `${service}/status`, {
        contentType: merge,
        body: { status: { loadBalancer: { ingress: [{ ip: "192.0.2.1", ipMode: "VIP" }] } } },
      });
      await change({ type: "NodePort" });
      await change({ type: "ClusterIP" });
      await change({ type: "ExternalName", externalName: "a.b" });
      await change({ type: "ClusterIP", externalName: null });
      await change({ type: "LoadBalancer" });
      await change({ externalTrafficPolicy: "Local" });
      await change({ externalTrafficPolicy: "Cluster" });
    },
  },
  {
    name: "service: what may not change",
    run: async (recorder) => {
      const { call } = recorder;
      const service = `${path}/fixed`;
      const change = (spec: object) => call("PATCH", service, { contentType: merge, body: { spec } });
      await createBalancer(recorder, "fixed", { loadBalancerClass: "a.b/c", externalTrafficPolicy: "Local" });
      await change({ clusterIP: "10.96.0.81" });
      await change({ clusterIP: "10.96.0.81", clusterIPs: ["10.96.0.81"] });
      await change({ clusterIP: null });
      await change({ clusterIPs: null });
      await change({ clusterIP: null, clusterIPs: null });
      await change({ clusterIP: "None" });
      await change({ loadBalancerClass: "x.y/z" });
      await change({ loadBalancerClass: null });
      await change({ healthCheckNodePort: 30_041 });
      await change({ healthCheckNodePort: null });
      await change({ type: "ClusterIP", loadBalancerClass: "x.y/z" });
    },
  },
  {
    name: "service: replace keeps what was allocated, creates what is missing",
    run: async (recorder) => {
      const { call } = recorder;
      await createBalancer(recorder, "replaced");
      const put = (spec: object, name = "replaced") =>
        call("PUT", `${path}/${name}`, { body: { metadata: { name }, spec } });
      await put({ type: "LoadBalancer", ports: [{ port: 80 }] });
      await put({ type: "LoadBalancer", ports: [{ port: 81 }] });
      await put({
        type: "LoadBalancer",
        ports: [
          { name: "a", port: 81 },
          { name: "b", port: 82 },
        ],
      });
      await put({ type: "LoadBalancer", ports: [{ name: "b", port: 82, nodePort: 30_050 }] });
      await put({
        type: "LoadBalancer",
        ports: [
          { name: "b", port: 82, nodePort: 30_051 },
          { name: "c", port: 83 },
        ],
        allocateLoadBalancerNodePorts: false,
      });
      await put({ ports: [port] }, "put-new");
      await call("PUT", `${path}/put-stale`, {
        body: { metadata: { name: "put-stale", resourceVersion: "5" }, spec: { ports: [port] } },
      });
      await call("PUT", `${path}/put-uid`, {
        body: { metadata: { name: "put-uid", uid: "00000000-1111-4222-8333-444444444444" }, spec: { ports: [port] } },
      });
      await call("POST", path, {
        body: { metadata: { name: "post-version", resourceVersion: "5" }, spec: { ports: [port] } },
      });
      await call("DELETE", `${path}/replaced`);
      await call("DELETE", `${path}/replaced`);
    },
  },
  {
    name: "service: the cluster's own",
    run: async ({ call }) => {
      await call("GET", `${path}/kubernetes`);
      await call("GET", `${path}/kubernetes`, { accept: table });
    },
  },
];
