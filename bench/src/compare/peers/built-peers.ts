import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { buildControlPlane } from "@cloudwire/control-plane";
import { buildUpstream } from "@cloudwire/test";
import { cloudwire, type Peer, upstreamPeers } from "./peers.ts";
import { rawWriter } from "./raw-writer.ts";

const BUNDLES = fileURLToPath(new URL("../../../../scripts/build/bundle/main.ts", import.meta.url));

/** All peers, with their built programs as shipped. */
export async function builtPeers(): Promise<readonly Peer[]> {
  const { status, stderr } = spawnSync(process.execPath, ["--conditions=development", BUNDLES], { encoding: "utf8" });
  if (status !== 0) throw new Error(`the controller or the sidecar cannot be bundled:\n${stderr}`);
  await buildControlPlane();
  return [cloudwire, ...upstreamPeers(await buildUpstream()), rawWriter];
}
