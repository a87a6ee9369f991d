import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCli } from "../../support/cli.ts";
import { at, listOf } from "../../support/kube.ts";
import { fetchPage, freePort } from "../../support/secure-page.ts";
import { blockOf, type Reader, outputOfShell, promptedBlockOf, ROOT } from "./support/shell.ts";
import { Stage } from "./support/stage.ts";

const UPGRADE = "docs/guides/upgrade.md";
const RUN = "docs/guides/run-the-controller.md";
const RECOVERY = "docs/guides/disaster-recovery.md";
/** Of the controller; the machine is in this one's network. */
const PORT = 10258;
const SERVICE = "/api/v1/namespaces/default/services/web";

let stage: Stage;
/** An administrator: a checkout, and values of the chart. */
let admin: Reader;

const writeValues = async (values: object): Promise<void> => {
  const all = { ...stage.valuesInCluster, ...values };
  await writeFile(join(stage.directory, "admin", "values.yaml"), JSON.stringify(all));
};

beforeAll(async () => {
  stage = await Stage.start();
  const directory = join(stage.directory, "admin");
  await mkdir(directory);
  await symlink(join(ROOT, "deploy"), join(directory, "deploy"));
  admin = { kubeconfig: stage.cluster.kubeconfigPath, directory };
  await stage.startNode();
  await writeValues({});
  // The harness has made the roles, as the manifests have them.
  await follow(UPGRADE, "take-over");
  await stage.readyPod();
}, 60 * 60_000);
afterAll(() => stage?.[Symbol.asyncDispose](), 120_000);

const follow = async (page: string, word: string): Promise<string> =>
  outputOfShell(await promptedBlockOf(page, word), admin);

const nameOfPod = async (): Promise<string> => String(at(await stage.readyPod(), "metadata", "name"));

const loadBalancers = async (): Promise<readonly string[]> => (await stage.harness.loadBalancers()).map(({ id }) => id);

const argsOfPod = async (): Promise<string> =>
  JSON.stringify(listOf(at(await stage.readyPod(), "spec", "containers")).map(({ args }) => args));

/** Each goes on from where the one before it ended. */
describe("a release, as the guides have it", () => {
  let before: readonly string[];

  test("is stopped, and what it made stays", async () => {
    await stage.harness.createService("web", await freePort());
    await stage.harness.addressed("web", 180_000);
    before = await loadBalancers();
    await follow(RECOVERY, "stop");
    await stage.noPod();
    expect(await loadBalancers()).toEqual(before);
  });

  test("is started to observe, says what it would do, and does not do it", async () => {
    await stage.cluster.kubectl(["delete", "service", "web", "--wait=false"]);
    const commands = (await promptedBlockOf(RECOVERY, "observe")).replace(/^cloudwire .*$/m, "");
    await outputOfShell(commands, admin);
    const plan = await stage.waitFor("a plan", async () => {
      const ended = await runCli(["plan", "--pod", await nameOfPod(), "--kubeconfig", admin.kubeconfig]);
      return ended.code === 3 ? ended : undefined;
    });
    expect(plan.out).toContain("default/web");
    expect(await loadBalancers()).toEqual(before);
  });

  test("is let write again, and does it", async () => {
    await writeValues({});
    await follow(UPGRADE, "upgrade");
    await stage.waitFor("the Service to be gone", async () =>
      (await stage.harness.kube.find(SERVICE)) === undefined ? true : undefined,
    );
    expect(await loadBalancers()).toEqual([]);
  });

  test("is upgraded: another pod leads, and the load balancer is the same", async () => {
    await stage.harness.createService("web", await freePort());
    await stage.harness.addressed("web", 180_000);
    before = await loadBalancers();
    const pod = await nameOfPod();
    await writeValues({ extraArgs: ["-v=4"] });
    await follow(UPGRADE, "upgrade");
    await stage.readyPod(pod);
    expect(await argsOfPod()).toContain('"-v=4"');
    const status = await stage.waitFor("a leader", async () => {
      const { out } = await runCli(["status", "--kubeconfig", admin.kubeconfig]);
      return out.includes(" (leader), version ") ? out : undefined;
    });
    expect(status).toMatch(/\n {2}service +1 +0 +0 +0 +0\n/);
    expect(await loadBalancers()).toEqual(before);
  });

  test("is taken back", async () => {
    const pod = await nameOfPod();
    await follow(UPGRADE, "back");
    await stage.readyPod(pod);
    expect(await argsOfPod()).not.toContain('"-v=4"');
    expect(await loadBalancers()).toEqual(before);
  });

  test("has its rights, by what the guide asks", async () => {
    expect(await follow(RUN, "can-i")).toMatch(/^yes$/m);
  });

  test("serves its metrics to the bound account of the guide, and to no other", async () => {
    const { cluster } = stage;
    await cluster.kubectl(["create", "namespace", "monitoring"]);
    for (const name of ["prometheus", "stranger"])
      await cluster.kubectl(["-n", "monitoring", "create", "serviceaccount", name]);
    const tokenOf = async (name: string): Promise<string> =>
      (await cluster.kubectl(["-n", "monitoring", "create", "token", name])).trim();
    const [token, other] = [await tokenOf("prometheus"), await tokenOf("stranger")];
    await writeFile(join(stage.directory, "admin", "metrics-reader.yaml"), (await blockOf(RUN, "metrics-reader")).text);
    await follow(RUN, "metrics-binding");
    const { text } = await stage.waitFor("the right to be in force", async () => {
      const page = await fetchPage(PORT, "/metrics", { token });
      return page.status === 200 ? page : undefined;
    });
    expect(text).toContain("cloudwire_provider_usable");
    expect((await fetchPage(PORT, "/metrics", { token: other })).status).toBe(403);
  });
});
