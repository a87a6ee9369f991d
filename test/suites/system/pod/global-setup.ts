import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { renderChart } from "@cloudwire/deploy/chart";
import { buildOwnImages, VERSION } from "../../deploy/support/images.ts";
import { Podman } from "../../deploy/support/podman.ts";
import { containersOf, podsOf } from "../../deploy/support/pods.ts";
import { runInPod, runOptions } from "../support/containers.ts";

const CONTAINERS = {
  "cloudwire-controller-manager": "controller",
  "cloudwire-provider-simulated": "simulated",
} as const;

/** Builds the images, and has the suite's programs run as containers of the chart's pod. */
export async function setup(): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), "system-pod-"));
  const podman = await Podman.create();
  await buildOwnImages(directory, "controller", "simulated");
  for (const name of Object.keys(CONTAINERS)) await podman.load(directory, `${name}:${VERSION}`);
  const objects = await renderChart({
    values: { image: { registry: "localhost" }, providers: [{ name: CONTAINERS["cloudwire-provider-simulated"] }] },
  });
  const containers = podsOf(objects.filter(({ kind }) => kind === "Deployment")).flatMap(({ spec }) =>
    containersOf(spec),
  );
  const optionsOf = (name: string) => runOptions(containers.find((container) => container["name"] === name));
  runInPod({
    env: podman.env,
    options: {
      "cloudwire-controller-manager": optionsOf(CONTAINERS["cloudwire-controller-manager"]),
      "cloudwire-provider-simulated": optionsOf(CONTAINERS["cloudwire-provider-simulated"]),
    },
  });
  return async () => {
    await podman[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  };
}
