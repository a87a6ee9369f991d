import { Program } from "../../../support/program.ts";
import { buildUpstream } from "../upstream/module.ts";
import type { Peer } from "./peer.ts";

/** Upstream's controllers, linked as a vendor does. Its limits of calls and workers would only hide what it does. */
export const upstream: Peer = {
  name: "upstream",
  start: async (site, flags) => {
    const program = new Program({
      command: await buildUpstream(),
      args: [
        `--kubeconfig=${site.kubeconfigPath}`,
        "--cloud-provider=simulated",
        "--secure-port=0",
        "--authentication-skip-lookup",
        "--kube-api-qps=500",
        "--kube-api-burst=500",
        "--concurrent-node-syncs=10",
        "--concurrent-service-syncs=10",
        "-v=2",
        ...flags.both,
        ...flags.upstream,
      ],
      env: { SIMCLOUD_URL: site.cloudUrl, SIMCLOUD_API_KEY: site.apiKey, SIMCLOUD_CLUSTER_ID: site.clusterId },
    });
    await program.said(/Started "cloud-node-controller"/);
    return [program];
  },
  // It sends them as fast as it goes.
  eventsWait: async () => false,
};
