import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeBundles } from "../../support/bundles.ts";
import { at } from "../../support/kube.ts";
import { Harness } from "../system/support/harness.ts";

let bundles: string;
let controlPlane: ControlPlane;

beforeAll(async () => {
  bundles = await mkdtemp(join(tmpdir(), "bundles-"));
  await makeBundles(bundles);
  await buildControlPlane();
  controlPlane = await startControlPlane();
}, 60 * 60_000);
afterAll(async () => {
  await controlPlane.stop();
  await rm(bundles, { recursive: true, force: true });
});

test("the programs as they are shipped initialize a node, serve a Service and end in good order", async () => {
  await using harness = await Harness.start(controlPlane, { bundles });
  await harness.createMachines([{ name: "shipped-1", zone: "north-a" }]);
  await harness.registerNode("shipped-1");
  const sidecar = await harness.startSidecar();
  const controller = harness.startController();
  expect(at(await harness.initialized("shipped-1"), "spec", "providerID")).toMatch(/^sim:\/\/north-a\//);
  await harness.createService("shipped", 80);
  expect(await harness.addressed("shipped")).toMatch(/^127\./);
  expect(await controller.stop("SIGTERM")).toEqual({ code: 0, signal: null });
  expect(await sidecar.stop("SIGTERM")).toEqual({ code: 0, signal: null });
});
