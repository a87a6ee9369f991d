import { CLOUDWIRE, UPSTREAM_TUNED } from "../peers/names.ts";
import { type Scenario, sizeOf, STILL_MS } from "./scenario.ts";

/** Cloudwire does not ask for the machine of a Node that is younger than a minute: partitions strike those that have been there. */
const GROWN_UP_MS = 65_000;

/**
 * Kubelets have lost the API server: every Node is declared NotReady while its machine runs on. Each has to be asked about before
 * anything is done to its Node. The cloud sees who asks about which machine, in whatever way.
 */
export const verdict: Scenario = {
  name: "verdict",
  sizes: { nodes: 5000 },
  peers: [CLOUDWIRE, UPSTREAM_TUNED],
  about: (sizes) =>
    `${sizeOf(sizes, "nodes")} nodes become NotReady; from the last of them until the cloud has been asked about every one since`,
  // The regular look at all Nodes asks the cloud as well: it is put off, as the cloud cannot tell what a question is for.
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
