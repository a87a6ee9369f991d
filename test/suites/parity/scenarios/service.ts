import { at, listOf } from "../../../support/kube.ts";
import type { Json } from "../../../support/kube.ts";
import type { Claim, Scenario } from "../scenario.ts";
import type { Stage } from "../stage.ts";
import { withRace } from "./race.ts";

const CALL_MS = 10_000;
const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";

const port = (name: string, number: number, protocol = "TCP"): Json => ({
  name,
  port: number,
  protocol,
  targetPort: 80,
});

/** What cannot be served as requested is refused before anything is written or said. */
const REFUSED: readonly Claim[] = [
  "S18",
  "S30",
  {
    id: "S18",
    explains: /^(?:Service \S+\.finalizers|event: \S+ \S+ service-controller Normal EnsuringLoadBalancer )/,
  },
];

interface Made {
  readonly name: string;
  readonly claims?: readonly Claim[];
  readonly spec?: Json;
  readonly metadata?: Json;
}

/** Services that get a load balancer as they are. */
const made: readonly Made[] = [
  { name: "service: one port" },
  { name: "service: several ports", spec: { ports: [port("b", 8443), port("a", 8080), port("c", 9000)] } },
  { name: "service: session affinity", spec: { sessionAffinity: "ClientIP" } },
  { name: "service: source ranges", spec: { loadBalancerSourceRanges: ["192.0.2.0/24", "10.0.0.0/8"] } },
  { name: "service: policy Local", spec: { externalTrafficPolicy: "Local" } },
  // Below 30086 the API server gives no one a port that was not asked for.
  { name: "service: health check port given", spec: { externalTrafficPolicy: "Local", healthCheckNodePort: 30_080 } },
  {
    name: "service: no node ports",
    // This cloud forwards to node ports only.
    claims: ["S30", { id: "S18", explains: /./ }],
    spec: { allocateLoadBalancerNodePorts: false },
  },
  { name: "service: external addresses", spec: { externalIPs: ["192.0.2.10"] } },
  {
    name: "service: flavor by annotation",
    metadata: { annotations: { "simulated.cloudwire.dev/flavor": "internal" } },
  },
  {
    name: "service: idle timeout by annotation",
    metadata: { annotations: { "simulated.cloudwire.dev/idle-timeout-seconds": "120" } },
  },
  { name: "service: finalizer of another process", metadata: { finalizers: ["example.com/held"] } },
  { name: "service: finalizer there already", metadata: { finalizers: [FINALIZER] } },
  {
    name: "service: both families preferred",
    claims: ["S18", "S30"],
    spec: { ipFamilyPolicy: "PreferDualStack" },
  },
];

interface Unserved {
  readonly name: string;
  readonly claims: readonly Claim[];
  readonly spec?: Json;
  readonly metadata?: Json;
}

/** Services that get none. */
const unserved: readonly Unserved[] = [
  { name: "service: type ClusterIP", claims: [], spec: { type: "ClusterIP" } },
  { name: "service: type NodePort", claims: [], spec: { type: "NodePort" } },
  { name: "service: class of another controller", claims: [], spec: { loadBalancerClass: "example.com/other" } },
  {
    name: "service: class of this provider",
    claims: ["S30", { id: "S3", explains: /./ }],
    spec: { loadBalancerClass: "simulated.cloudwire.dev/internal" },
  },
  { name: "service: mixed protocols", claims: REFUSED, spec: { ports: [port("tcp", 8080), port("udp", 8081, "UDP")] } },
  { name: "service: UDP", claims: REFUSED, spec: { ports: [port("dns", 5353, "UDP")] } },
  {
    name: "service: an annotation that cannot be read",
    claims: ["S23", "S30"],
    metadata: { annotations: { "simulated.cloudwire.dev/idle-timeout-seconds": "soon" } },
  },
  {
    name: "service: an address that the cloud does not have",
    claims: ["S23", "S30"],
    spec: { loadBalancerIP: "192.0.2.200" },
  },
];

interface Change {
  readonly name: string;
  readonly claims?: readonly Claim[];
  readonly spec?: Json;
  readonly metadata?: Json;
  readonly patch: Json;
  /** How it shows that the change was carried out. Default: the load balancer is ensured. */
  readonly shows?: (service: Json) => boolean;
  /** The controllers have nothing to do. */
  readonly idle?: true;
}

/** Edits of a Service that has its load balancer. */
const changes: readonly Change[] = [
  {
    name: "service: port added",
    patch: { spec: { ports: [port("more", 8443)] } },
    shows: (service) => portsOf(service).length === 2,
  },
  {
    name: "service: port replaced",
    patch: { spec: { ports: [{ $patch: "replace" }, port("web", 9090)] } },
    shows: (service) => portsOf(service).includes(9090),
  },
  { name: "service: affinity set", patch: { spec: { sessionAffinity: "ClientIP" } } },
  { name: "service: source ranges set", patch: { spec: { loadBalancerSourceRanges: ["192.0.2.0/24"] } } },
  {
    name: "service: source ranges taken away",
    spec: { loadBalancerSourceRanges: ["192.0.2.0/24"] },
    patch: { spec: { loadBalancerSourceRanges: null } },
  },
  { name: "service: policy becomes Local", patch: { spec: { externalTrafficPolicy: "Local" } } },
  {
    name: "service: policy becomes Cluster",
    spec: { externalTrafficPolicy: "Local" },
    patch: { spec: { externalTrafficPolicy: "Cluster" } },
  },
  {
    name: "service: annotation changed",
    patch: { metadata: { annotations: { "simulated.cloudwire.dev/idle-timeout-seconds": "90" } } },
  },
  {
    name: "service: flavor changed, which cannot be",
    // Rejected here, so that the load balancer is not ensured again.
    claims: ["S30", { id: "S39", explains: /^(?:event: Service \S+ service-controller |waited without success: )/ }],
    patch: { metadata: { annotations: { "simulated.cloudwire.dev/flavor": "internal" } } },
  },
  { name: "service: annotation of another process", patch: { metadata: { annotations: { "example.com/note": "x" } } } },
  { name: "service: label changed", idle: true, patch: { metadata: { labels: { tier: "front" } } } },
  { name: "service: selector changed", idle: true, patch: { spec: { selector: { app: "another" } } } },
  { name: "service: internal policy changed", idle: true, patch: { spec: { internalTrafficPolicy: "Local" } } },
  {
    name: "service: becomes ClusterIP",
    claims: [],
    patch: { spec: { type: "ClusterIP" } },
    shows: (service) =>
      at(service, "status", "loadBalancer", "ingress") === undefined &&
      at(service, "metadata", "finalizers") === undefined,
  },
  {
    name: "service: becomes NodePort",
    claims: [],
    patch: { spec: { type: "NodePort" } },
    shows: (service) =>
      at(service, "status", "loadBalancer", "ingress") === undefined &&
      at(service, "metadata", "finalizers") === undefined,
  },
  {
    name: "service: our finalizer taken off",
    claims: ["S30", { id: "S6", explains: /^(?:Service .*finalizers|write: patch services\/status|event: .* Ensur)/ }],
    idle: true,
    patch: { metadata: { "$deleteFromPrimitiveList/finalizers": [FINALIZER] } },
  },
];

const all: readonly Scenario[] = [
  ...made.map(
    ({ name, claims = ["S30"], spec, metadata }): Scenario => ({
      name,
      claims,
      run: async (stage) => {
        await stage.serve("web", spec, metadata);
      },
    }),
  ),
  ...unserved.map(
    ({ name, claims, spec, metadata }): Scenario => ({
      name,
      claims,
      run: async (stage) => {
        await stage.service("web", spec, metadata);
        await stage.quiet(4000);
      },
    }),
  ),
  ...changes.map(
    ({ name, claims = ["S30"], spec, metadata, patch, shows, idle }): Scenario => ({
      name,
      claims,
      run: async (stage) => {
        await stage.serve("web", spec, metadata);
        await stage.fromHere();
        await stage.patchService("web", patch);
        if (shows !== undefined) await stage.seeService("web", "shows the change", shows);
        else if (idle !== true) await stage.seeEvent("Service", "web", "EnsuredLoadBalancer");
      },
    }),
  ),
  {
    name: "service: becomes LoadBalancer",
    claims: ["S30"],
    run: async (stage) => {
      await stage.service("web", { type: "ClusterIP" });
      await stage.quiet();
      await stage.patchService("web", { spec: { type: "LoadBalancer" } });
      await stage.addressed("web");
    },
  },
  {
    name: "service: another controller serves it, by annotation",
    claims: [{ id: "S27", explains: /./ }],
    run: async (stage) => {
      await stage.service("web", {}, { annotations: { "simulated.cloudwire.dev/served": "false" } });
      await stage.outlast(4000);
    },
  },
  {
    name: "service: another client clears the address",
    claims: ["S30", { id: "S37", explains: /^(?:Service \S+\.status\.loadBalancer|waited without success|write: )/ }],
    run: async (stage) => {
      await stage.serve("web");
      await stage.fromHere();
      await stage.world.kube.patch(`${stage.namespace}/services/web/status`, {
        status: { loadBalancer: { ingress: null } },
      });
      await stage.addressed("web");
    },
  },
  {
    name: "service: two at once",
    claims: ["S30"],
    run: async (stage) => {
      await Promise.all([stage.serve("web"), stage.serve("api", { ports: [port("web", 8080), port("admin", 9090)] })]);
    },
  },
  {
    name: "service: deleted",
    claims: [],
    run: async (stage) => {
      await stage.serve("web");
      await stage.fromHere();
      await stage.deleteService("web");
      await stage.serviceGone("web");
    },
  },
  {
    name: "service: deleted, its load balancer is gone",
    claims: ["S2"],
    run: async (stage) => {
      await stage.serve("web");
      await stage.fromHere();
      await deleteLoadBalancers(stage);
      await stage.deleteService("web");
      await stage.serviceGone("web");
    },
  },
  {
    name: "service: deleted while a finalizer of another process holds it",
    claims: ["S9"],
    run: async (stage) => {
      await stage.serve("web", {}, { finalizers: ["example.com/held"] });
      await stage.fromHere();
      await stage.deleteService("web");
      await stage.seeService("web", "has lost our finalizer", (service) => !finalizersOf(service).includes(FINALIZER));
      await stage.quiet();
    },
  },
  {
    name: "service: gone without its finalizer",
    claims: [{ id: "S5", explains: /^(?:load balancer of|event: Service|write: patch services)/ }],
    run: async (stage) => {
      await stage.serve("web");
      await stage.fromHere();
      await stage.patchService("web", { metadata: { finalizers: null } });
      await stage.deleteService("web");
      await stage.serviceGone("web");
    },
  },
  {
    name: "service: deleted and recreated",
    claims: ["S30"],
    run: async (stage) => {
      await stage.serve("web");
      await stage.deleteService("web");
      await stage.serviceGone("web");
      await stage.serve("web");
    },
  },
  {
    name: "service: class of another controller, with the shared finalizer, deleted",
    claims: [{ id: "S4", explains: /./ }],
    run: async (stage) => {
      await stage.service("web", { loadBalancerClass: "example.com/other" }, { finalizers: [FINALIZER] });
      await stage.fromHere();
      await stage.deleteService("web");
      await stage.quiet();
    },
  },
  {
    name: "service: a wrong annotation is fixed",
    claims: ["S23", "S30"],
    run: async (stage) => {
      const annotations = { "simulated.cloudwire.dev/idle-timeout-seconds": "soon" };
      await stage.service("web", {}, { annotations });
      await stage.seeEvent("Service", "web", "SyncLoadBalancerFailed");
      await stage.patchService("web", {
        metadata: { annotations: { "simulated.cloudwire.dev/idle-timeout-seconds": "30" } },
      });
      await stage.addressed("web");
    },
  },
  {
    name: "service: an address that is given",
    claims: ["S30"],
    run: async (stage) => {
      await stage.serve("first");
      const address = (await loadBalancers(stage))[0]?.address ?? "";
      await deleteLoadBalancers(stage);
      await stage.patchService("first", { spec: { type: "ClusterIP" } });
      await stage.quiet();
      await stage.fromHere();
      await stage.serve("web", { loadBalancerIP: address });
    },
  },
  {
    name: "service: an address that is taken",
    claims: ["S23", "S30"],
    run: async (stage) => {
      await stage.serve("first");
      const address = (await loadBalancers(stage))[0]?.address ?? "";
      await stage.service("web", { loadBalancerIP: address });
      await stage.seeEvent("Service", "web", "SyncLoadBalancerFailed");
      await stage.quiet(4000);
    },
  },
];

export const serviceScenarios: readonly Scenario[] = all.map(withRace);

function portsOf(service: Json): readonly unknown[] {
  return listOf(at(service, "status", "loadBalancer", "ingress", 0, "ports")).map((one) => one["port"]);
}

function finalizersOf(service: Json): readonly string[] {
  const found = at(service, "metadata", "finalizers");
  return Array.isArray(found) ? found.map(String) : [];
}

async function loadBalancers(stage: Stage) {
  const { items } = await stage.world.cloud.listLoadBalancers(
    { pageSize: 500, consistent: true, tag: [`cloudwire.dev/service-namespace=${stage.slug}`] },
    AbortSignal.timeout(CALL_MS),
  );
  return items;
}

/** Another client deletes them in the cloud. */
async function deleteLoadBalancers(stage: Stage): Promise<void> {
  for (const { id } of await loadBalancers(stage)) {
    await stage.world.cloud.deleteLoadBalancer(id, AbortSignal.timeout(CALL_MS));
  }
}
