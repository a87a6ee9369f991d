import { afterEach, describe, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import type { Program } from "../../../support/program.ts";
import { eachHarness } from "../support/each-harness.ts";
import { RotatingFiles } from "../support/rotating-files.ts";
import type { Harness } from "../support/harness.ts";

const FILE = "config.yaml";
const HEAD = "apiVersion: cloudcontrollermanager.config.k8s.io/v1alpha1\nkind: CloudControllerManagerConfiguration\n";

let harness: Harness;
let files: RotatingFiles;

eachHarness(async (fresh) => {
  harness = fresh;
  files = await RotatingFiles.create();
  await harness.startSidecar();
});
afterEach(async () => {
  await files[Symbol.asyncDispose]();
});

const mount = (content: string): Promise<void> => files.put({ [FILE]: `${HEAD}${content}` });

async function startWith(content: string): Promise<Program> {
  await mount(content);
  const controller = harness.startController({ args: [`--config=${files.path(FILE)}`], isVerbose: false });
  await controller.said(/Controller started.*service-lb-controller/);
  return controller;
}

const reloads = (controller: Program, result: string) =>
  harness.metric(controller, new RegExp(`^cloudwire_config_reloads_total\\{result="${result}"`));

describe("a change of the configuration file", () => {
  test("takes effect while the process runs", async () => {
    const controller = await startWith("Cloudwire:\n  V: 0\n");
    await mount("Cloudwire:\n  V: 4\n  NodeDeletionMaxPercent: 5\n");
    await controller.said(/Reloaded the configuration file.*--node-deletion-max-percent from 10 to 5.*--v from 0 to 4/);
    await harness.createService("web", 80);
    await controller.said(/DEBUG Reconciled.*default\/web/);
    expect(controller.output).not.toContain("Controller stopped");
    expect(await reloads(controller, "success")).toBe(1);
  });

  test("moves the rate at which the cloud may be called", async () => {
    const rate = () =>
      harness.metric(controller, /^cloudwire_provider_call_budget_cloud_calls_per_second\{.*quota_class="instances"/);
    const controller = await startWith("Cloudwire:\n  ProviderCallRate: [simulated=7]\n");
    const becomes = (wanted: number): Promise<number> =>
      eventually(`a rate of ${wanted}`, 20_000, async () => ((await rate()) === wanted ? wanted : undefined));
    expect(await becomes(7)).toBe(7);
    await mount("Cloudwire:\n  ProviderCallRate: [simulated=3]\n");
    controller.signal("SIGHUP");
    expect(await becomes(3)).toBe(3);
  });

  test("changes nothing when anything in it is wrong", async () => {
    const controller = await startWith("Cloudwire:\n  V: 0\n");
    await mount("Cloudwire:\n  V: 4\n  NodeDeletionMaxPercent: 500\n  NodeDeletionConfirmationPeriode: 1m\n");
    const [line] = await controller.said(/ERROR Rejected the changed configuration file.*\n/);
    expect(line).toMatch(/NodeDeletionMaxPercent.*not a whole number from 0 to 100/);
    expect(line).toMatch(
      /NodeDeletionConfirmationPeriode: is not a setting; did you mean Cloudwire\.NodeDeletionConfirmationPeriod\?/,
    );
    await harness.createService("web", 80);
    await harness.addressed("web");
    expect(controller.output).not.toContain("DEBUG");
    expect(await reloads(controller, "failure")).toBe(1);
  });

  test("says what waits for a restart, and is taken at once on SIGHUP", async () => {
    const controller = await startWith("KubeCloudShared:\n  ClusterName: one\n");
    await mount("KubeCloudShared:\n  ClusterName: two\n  ConfigureCloudRoutes: false\n");
    controller.signal("SIGHUP");
    const [line] = await controller.said(/WARN {2}Changed settings .* take effect at the next restart.*\n/);
    expect(line).toMatch(/--cluster-name from one to two.*--configure-cloud-routes from true to false/);
    expect(await harness.metric(controller, /^cloudwire_config_settings_needing_restart /)).toBe(2);
    expect(await controller.stop("SIGTERM")).toEqual({ code: 0, signal: null });
  });
});

test("SIGHUP ends the process in order when there is no configuration file", async () => {
  const controller = harness.startController();
  await controller.said(/Became leader/);
  expect(await controller.stop("SIGHUP")).toEqual({ code: 0, signal: null });
  expect(controller.output).toContain("Leadership released");
});
