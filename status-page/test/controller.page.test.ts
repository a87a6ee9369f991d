import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Browser, Page, Response } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startBrowser } from "./browser.ts";

/** The page as the controller itself serves it, in the demo that `npm start` runs. */
const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const NODES = 5;

/** The demo runs from sources, on a machine that may have other work. */
const PATIENCE_MS = 120_000;

let browser: Browser;
let demo: ChildProcess;
/** Lines of the demo. */
const said: string[] = [];

beforeAll(async () => {
  browser = await startBrowser();
  const args = ["--conditions=development", "demo/src/main.ts", "--nodes", String(NODES)];
  demo = spawn(process.execPath, args, { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
  if (demo.stdout !== null) createInterface(demo.stdout).on("line", (line) => said.push(line));
  await vi.waitUntil(() => pageUrl() !== undefined || demo.exitCode !== null, { timeout: PATIENCE_MS, interval: 200 });
  if (pageUrl() === undefined) throw new Error(`the demo ended before it was ready:\n${said.join("\n")}`);
}, PATIENCE_MS + 10_000);

afterAll(async () => {
  await browser.close();
  demo.kill("SIGTERM");
  if (demo.exitCode === null) await once(demo, "exit");
}, 60_000);

/** undefined: the demo is not ready. */
function pageUrl(): string | undefined {
  return /http:\/\/127\.0\.0\.1:\d+\/status\//.exec(said.join("\n"))?.[0];
}

/** Of the controller that runs: it is started again where it dies. */
function controllerPid(): number {
  const pids = [...said.join("\n").matchAll(/controller +(?:the controller|is back), pid (\d+)/g)];
  return Number(pids.at(-1)?.[1]);
}

/** Opens the page once its server responds. */
async function open(page: Page, hash: string): Promise<Response | null> {
  const url = pageUrl() ?? "";
  await vi.waitUntil(
    () =>
      fetch(url).then(
        ({ ok }) => ok,
        () => false,
      ),
    { timeout: PATIENCE_MS, interval: 500 },
  );
  return page.goto(`${url}${hash}`);
}

test("shows what a controller says of itself and its objects, within the rules that the controller sets", async () => {
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(message.text());
  });
  const answer = await open(page, "");
  expect(answer?.headers()["content-security-policy"]).toContain("default-src 'none'");
  await page.getByRole("link", { name: `${NODES} Nodes, ok` }).waitFor();
  await page.getByRole("link", { name: "1 Services, ok" }).click();
  await page.getByRole("link", { name: "default/web" }).click();
  await page.getByRole("region", { name: "Causes" }).getByText("No problems.").waitFor();
  await page.getByRole("region", { name: "Recent provider calls" }).getByText("EnsureLoadBalancer").first().waitFor();
  await page.getByRole("region", { name: "Timeline" }).getByText("EnsuredLoadBalancer").first().waitFor();
  await open(page, "#/node/absent");
  await page.getByText("This object does not exist in the cluster.").waitFor();
  await open(page, "#/controllers");
  await page.getByRole("rowheader", { name: "cloud-node-controller" }).waitFor();
  await page.getByRole("img", { name: "Reconciles per second, by controller" }).waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test(
  "a controller that dies is a lost connection, and the one that comes after it is followed",
  async () => {
    const page = await browser.newPage();
    await open(page, "#/nodes");
    await page.getByText(`${NODES} Nodes`, { exact: true }).waitFor();
    process.kill(controllerPid(), "SIGKILL");
    await page.getByText("Connection lost:").waitFor();
    await page.getByText("Live", { exact: true }).waitFor({ timeout: PATIENCE_MS });
    await page.getByText(`${NODES} Nodes`, { exact: true }).waitFor();
    expect(await page.getByRole("main").getAttribute("class")).toBe("");
    await page.close();
  },
  2 * PATIENCE_MS,
);
