import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { helm } from "@cloudwire/deploy/chart";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readBlocks } from "../guides/blocks.ts";
import { runCli } from "../../support/cli.ts";
import { at } from "../../support/kube.ts";
import { Program } from "../../support/program.ts";
import { freePort } from "../../support/secure-page.ts";
import { faultsOf, passWarning, startBrowser } from "./support/browser.ts";
import { blockOf, outputOfShell, shell } from "./support/shell.ts";
import { Stage } from "./support/stage.ts";

const GUIDE = "docs/guides/status-page.md";
const COMMAND_LINE_GUIDE = "docs/guides/explain.md";
const CHART = fileURLToPath(new URL("../../../deploy/charts/cloudwire-controller-manager", import.meta.url));
const SERVICE = "/api/v1/namespaces/default/services/web";
const PASSWORD = "secret";
/** For a page that waits for a pod. */
const POD_MS = 180_000;

let stage: Stage;
/** A user of the group that the guide authorizes: the kubeconfig, and its directory. */
let olga: { readonly kubeconfig: string; readonly directory: string };
let browser: Browser;

/** As the guides let operators in, on a machine that runs one replica by the chart. */
beforeAll(async () => {
  stage = await Stage.start();
  const { cluster } = stage;
  await stage.startNode();
  const ofGuide = (await readBlocks(GUIDE)).filter(({ language }) => language === "yaml").map(({ text }) => text);
  // The harness has roles of the other name, which are not Helm's.
  const values = { ...stage.valuesInCluster, rbac: { namePrefix: "chart" } };
  const ofStage = Object.entries(values).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  const input = [...ofStage, ...ofGuide].join("\n");
  await helm(["install", "ccm", CHART, "--namespace=kube-system", "--values=-"], {
    input,
    env: { KUBECONFIG: cluster.kubeconfigPath },
  });
  const directory = join(stage.directory, "olga");
  await mkdir(directory);
  const role = (await readBlocks(COMMAND_LINE_GUIDE)).find(({ text }) => text.includes("kind: Role\n"));
  await writeFile(join(directory, "reach.yaml"), role?.text ?? "");
  await outputOfShell((await blockOf(COMMAND_LINE_GUIDE, "reach")).text, {
    kubeconfig: cluster.kubeconfigPath,
    directory,
  });
  olga = { kubeconfig: (await cluster.kubeconfigFor("olga", ["operators"])).path, directory };
  const { text } = await blockOf(GUIDE, "certificate");
  await outputOfShell(text.replace("-out operator.p12", `$& -passout pass:${PASSWORD}`), olga);
  browser = await startBrowser({ directory, certificate: join(directory, "operator.p12"), password: PASSWORD });
  await stage.readyPod();
}, 60 * 60_000);
afterAll(async () => {
  await browser?.close();
  await stage?.[Symbol.asyncDispose]();
}, 120_000);

const forward = async (word: string): Promise<Program> => {
  const program = await shell((await blockOf(GUIDE, word)).text, olga);
  await program.said(/Forwarding from 127\.0\.0\.1/, POD_MS);
  return program;
};

const isLive = (page: Page): Promise<void> => page.getByText("Live", { exact: true }).waitFor();
const isLost = (page: Page): Promise<void> => page.getByText("Connection lost:").waitFor();

const newPage = async (): Promise<Page> => {
  const page = await browser.newPage();
  page.setDefaultTimeout(POD_MS);
  return page;
};

/** What is there, and what comes and goes while one looks. */
const showsRows = async (page: Page, url: string): Promise<void> => {
  await isLive(page);
  await page.getByRole("link", { name: "1 Nodes, ok" }).click();
  await page.getByRole("link", { name: stage.node }).click();
  await page.getByRole("region", { name: "Causes" }).getByText("No problems.").waitFor();
  await page.goto(`${url}#/services`);
  const row = page.getByRole("link", { name: "default/web" });
  await stage.harness.createService("web", await freePort());
  await row.waitFor();
  await stage.harness.kube.delete(SERVICE);
  await row.waitFor({ state: "hidden" });
};

/** As a roll-out does. Answers once it is on its way. */
const replacePod = async (): Promise<string> => {
  const name = String(at(await stage.readyPod(), "metadata", "name"));
  await stage.cluster.kubectl(["-n", "kube-system", "delete", "pod", name, "--wait=false"]);
  return name;
};

describe("the status page of a pod, as the guide has it", () => {
  test("is shown through kubectl to a browser with the kubeconfig's certificate, and again from another pod", async () => {
    const url = "https://localhost:18258/status/";
    const page = await newPage();
    const faults = faultsOf(page);
    await using first = await forward("forward");
    await expect(page.goto(url)).rejects.toThrow("ERR_CERT_AUTHORITY_INVALID");
    await passWarning(page);
    await showsRows(page, url);
    const before = await replacePod();
    await isLost(page);
    expect((await first.exit(POD_MS)).code).not.toBe(0);
    expect(first.output).toContain("lost connection to pod");
    await stage.readyPod(before);
    await using _ = await forward("forward");
    await expect(page.reload()).rejects.toThrow("ERR_CERT_AUTHORITY_INVALID");
    await passWarning(page);
    await isLive(page);
    expect(faults).toEqual([]);
    await page.close();
  });

  test("is shown through kubectl on the controller's own loopback without a certificate", async () => {
    const url = "http://localhost:18269/status/";
    await using _ = await forward("forward-loopback");
    const page = await newPage();
    const faults = faultsOf(page);
    await page.goto(url);
    await showsRows(page, url);
    expect(faults).toEqual([]);
    await page.close();
  });

  test("is shown by the command line, which follows the controller into another container and another pod", async () => {
    await using program = new Program({
      source: "cli/src/main.ts",
      args: ["status-page", "--kubeconfig", olga.kubeconfig],
    });
    const [address] = await program.said(/http:\/\/127\.0\.0\.1:\d+\/\?secret=\S+/, POD_MS);
    const page = await newPage();
    const faults = faultsOf(page);
    await page.goto(address);
    await showsRows(page, new URL("/status/", address).href);
    await stage.killController();
    await isLost(page);
    await isLive(page);
    const before = await replacePod();
    await isLost(page);
    await stage.readyPod(before);
    await isLive(page);
    expect(faults).toEqual([]);
    await page.close();
  });

  test("is read by hand with a token, and reports changes immediately", async () => {
    const { cluster, harness } = stage;
    await cluster.kubectl(["-n", "kube-system", "create", "serviceaccount", "reader"]);
    const binding = ["create", "clusterrolebinding", "reader", "--clusterrole=chart:status-reader"];
    await cluster.kubectl([...binding, "--serviceaccount=kube-system:reader"]);
    await using _ = await forward("forward");
    const { text } = await blockOf(GUIDE, "token");
    const whoMayMakeTokens = { kubeconfig: cluster.kubeconfigPath, directory: olga.directory };
    await using program = await shell(text.replace("NAME", "reader"), whoMayMakeTokens);
    await program.said(new RegExp(`node/${stage.node}"`), POD_MS);
    await harness.createService("web", await freePort());
    await program.said(/service\/default\/web"/, POD_MS);
    await harness.kube.delete(SERVICE);
    // It goes on: nothing waited for its end.
    expect(program.running).toBe(true);
  });

  test("is not reached by a user without the permissions that the guide names", async () => {
    const { path } = await stage.cluster.kubeconfigFor("stranger");
    await using program = await shell((await blockOf(GUIDE, "forward")).text, { ...olga, kubeconfig: path });
    expect((await program.exit(POD_MS)).code).not.toBe(0);
    expect(program.output).toContain('User "stranger" cannot list resource "pods"');
  });

  test("has what the command line explains from outside", async () => {
    const ask = ["explain", `node/${stage.node}`, "--kubeconfig", olga.kubeconfig];
    const { code, out, err } = await runCli(ask);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(new RegExp(`^node/${stage.node}\\b`));
    // Anyone who leads after one that was killed waits for the end of its Lease.
    const explained = await stage.waitFor("a leader's answer", async () => {
      const answer: unknown = JSON.parse((await runCli([...ask, "-o", "json"])).out);
      return at(answer, "replica", "isLeader") === true ? answer : undefined;
    });
    expect(explained).toMatchObject({ object: `node/${stage.node}`, exists: true, causes: [] });
  });
});
