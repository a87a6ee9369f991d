import { CLOUDWIRE, RAW_WRITER, UPSTREAM, UPSTREAM_TUNED } from "../peers/names.ts";
import { FEW_NODES, STILL_MS, type Scenario, atRest, sizeOf } from "./scenario.ts";

/** A whole cluster waits for its cloud controller, which is started. */
const initialize: Scenario = {
  name: "initialize",
  sizes: { nodes: 5000 },
  peers: [CLOUDWIRE, UPSTREAM, UPSTREAM_TUNED, RAW_WRITER],
  about: (sizes) => `${sizeOf(sizes, "nodes")} new nodes, from the start of the programs until all are initialized`,
  hasRawWriter: true,
  run: async (stage, peer, sizes) => {
    await stage.addNodes("n", sizeOf(sizes, "nodes"));
    await stage.fromHere();
    await stage.startPeer(peer);
    return stage.nodesInitialized();
  },
};

/** Of calls about load balancers; clouds limit them. */
const AT_ONCE = 10;

/** Services are made while the programs run. */
const services: Scenario = {
  name: "services",
  sizes: { services: 500 },
  peers: [CLOUDWIRE, UPSTREAM, UPSTREAM_TUNED],
  about: (sizes) =>
    `${sizeOf(sizes, "services")} Services of type LoadBalancer, until all have an address (${FEW_NODES} nodes, the cloud serves ${AT_ONCE} load balancer calls at once)`,
  run: async (stage, peer, sizes) => {
    await stage.addReadyNodes(FEW_NODES);
    await stage.limitLoadBalancerCalls(AT_ONCE);
    await stage.startPeer(peer);
    await stage.cloudLeftAlone(STILL_MS);
    await stage.fromHere();
    await stage.addServices(sizeOf(sizes, "services"));
    return stage.servicesAddressed(sizeOf(sizes, "services"));
  },
};

/** All objects are up to date, but a new process must check them. */
const restart: Scenario = {
  name: "restart",
  sizes: { nodes: 5000, services: 200 },
  peers: [CLOUDWIRE, UPSTREAM_TUNED],
  about: (sizes) =>
    `restart with ${sizeOf(sizes, "nodes")} nodes and ${sizeOf(sizes, "services")} Services, until the cloud is left alone`,
  run: async (stage, peer, sizes) => {
    await atRest(stage, peer, sizeOf(sizes, "nodes"), sizeOf(sizes, "services"));
    await stage.stopPeer();
    // Who does not give it up would wait for it to expire, which hides the work.
    await stage.removeLease();
    await stage.fromHere();
    await stage.startPeer(peer);
    return stage.cloudLeftAlone(STILL_MS);
  },
};

const SPREAD_MS = 5000;

/** Nodes join one by one, and every load balancer must forward to them. */
const join: Scenario = {
  name: "join",
  sizes: { joining: 100, services: 100 },
  peers: [CLOUDWIRE, UPSTREAM_TUNED],
  about: (sizes) =>
    `${sizeOf(sizes, "joining")} nodes join over ${SPREAD_MS / 1000} s, until ${sizeOf(sizes, "services")} load balancers forward to them`,
  run: async (stage, peer, sizes) => {
    const joining = sizeOf(sizes, "joining");
    await atRest(stage, peer, FEW_NODES, sizeOf(sizes, "services"));
    await stage.fromHere();
    await stage.addNodes("late", joining, SPREAD_MS / joining);
    return stage.loadBalancersForwardTo(FEW_NODES + joining);
  },
};

/** Cloudwire does not ask for the machine of a Node that is younger than a minute: partitions strike those that have been there. */
const GROWN_UP_MS = 65_000;

/**
 * Kubelets cannot reach the API server: every Node becomes NotReady while its instance runs. Each instance must be read before
 * its Node is changed. The cloud records the reads of each instance.
 */
const notReady: Scenario = {
  name: "not-ready",
  sizes: { nodes: 5000 },
  peers: [CLOUDWIRE, UPSTREAM_TUNED],
  about: (sizes) =>
    `${sizeOf(sizes, "nodes")} nodes become NotReady; from the last of them until the cloud has been asked about every one since`,
  // Postpones the regular update of all Nodes, because the cloud cannot distinguish its reads.
  flags: ["--node-status-update-frequency=2h"],
  run: async (stage, peer, sizes) => {
    await stage.addReadyNodes(sizeOf(sizes, "nodes"));
    const grownUpMs = performance.now() + GROWN_UP_MS;
    await stage.startPeer(peer);
    // Who has nothing to ask at its start does not.
    await stage.cloudLeftAlone(2 * STILL_MS, 0);
    await stage.pass(Math.max(0, grownUpMs - performance.now()));
    const silentSinceMs = await stage.silenceNodes();
    return stage.machinesAskedAbout(silentSinceMs);
  },
};

/** Nothing happens. */
const steady: Scenario = {
  name: "steady",
  sizes: { nodes: 5000, services: 100, steadySeconds: 600 },
  peers: [CLOUDWIRE, UPSTREAM_TUNED],
  about: (sizes) =>
    `${sizeOf(sizes, "nodes")} nodes and ${sizeOf(sizes, "services")} Services, ${sizeOf(sizes, "steadySeconds")} s in which nothing happens`,
  run: async (stage, peer, sizes) => {
    const seconds = sizeOf(sizes, "steadySeconds");
    await atRest(stage, peer, sizeOf(sizes, "nodes"), sizeOf(sizes, "services"));
    await stage.fromHere();
    await stage.pass(seconds * 1000);
    return { seconds, share: 1 };
  },
};

/** All, in the order in which they are run. */
export const SCENARIOS: readonly Scenario[] = [initialize, services, restart, join, notReady, steady];
