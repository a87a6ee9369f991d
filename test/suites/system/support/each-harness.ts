import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { Harness } from "./harness.ts";

/** As long as a first build of Kubernetes may take on a slow machine. */
const BUILD_MS = 60 * 60_000;

/** One control plane for the tests of a file, and on it an empty harness for each of them, which ends with it. */
export function eachHarness(begin: (harness: Harness) => void | Promise<void>): void {
  let controlPlane: ControlPlane;
  let harness: Harness;
  beforeAll(async () => {
    await buildControlPlane();
    controlPlane = await startControlPlane();
  }, BUILD_MS);
  beforeEach(async () => {
    harness = await Harness.start(controlPlane);
    await begin(harness);
  });
  afterEach(() => harness[Symbol.asyncDispose]());
  afterAll(() => controlPlane.stop());
}
