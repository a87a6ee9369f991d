import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { World } from "./world.ts";

/** As long as a first build of Kubernetes may take on a slow machine. */
const BUILD_MS = 60 * 60_000;

/** One control plane for the tests of a file, and on it an empty world for each of them, which ends with it. */
export function eachWorld(begin: (world: World) => void | Promise<void>): void {
  let controlPlane: ControlPlane;
  let world: World;
  beforeAll(async () => {
    await buildControlPlane();
    controlPlane = await startControlPlane();
  }, BUILD_MS);
  beforeEach(async () => {
    world = await World.start(controlPlane);
    await begin(world);
  });
  afterEach(() => world[Symbol.asyncDispose]());
  afterAll(() => controlPlane.stop());
}
