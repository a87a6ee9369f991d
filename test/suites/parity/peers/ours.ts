import { join } from "node:path";
import { Program } from "../../../support/program.ts";
import type { Peer } from "./peer.ts";

/** Generous: many programs start at once, on a busy machine. */
const START_MS = 120_000;

/** The controller and the sidecar of the simulated cloud, from their sources. */
export const ours: Peer = {
  name: "ours",
  start: async (site, flags) => {
    const socket = join(site.directory, "provider.sock");
    const sidecar = new Program({
      source: "providers/simulated/src/sidecar/main.ts",
      args: [`--cloud-url=${site.cloudUrl}`, ...(flags.sidecar ?? [])],
      env: { CLOUD_PROVIDER_ENDPOINT: `unix://${socket}`, SIMCLOUD_API_KEY: site.apiKey },
    });
    await sidecar.said(/ready/, START_MS);
    const controller = new Program({
      source: "controller/src/main.ts",
      args: [
        `--kubeconfig=${site.kubeconfigPath}`,
        `--provider=simulated=unix://${socket}`,
        "--health-bind-address=127.0.0.1:0",
        "--secure-port=0",
        "-v=4",
        ...flags.both,
        ...flags.ours,
      ],
    });
    await controller.said(/Started/, START_MS);
    return [sidecar, controller];
  },
  // It sends news as the server has time for them, which in a batch of scenarios may take a while.
  eventsWait: async (programs) => {
    const [, url] = (await programs.at(-1)?.said(/health=(http:\S+)/)) ?? [];
    const page = await (await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(30_000) })).text();
    const [, waiting] = /^cloudwire_events_waiting (\d+)$/m.exec(page) ?? [];
    if (waiting === undefined) throw new Error(`the controller does not say how many events wait:\n${page}`);
    return waiting !== "0";
  },
};
