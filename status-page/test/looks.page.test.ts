import axe, { type AxeResults } from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startBrowser } from "./browser.ts";
import { nodeRow } from "./clusters.ts";
import { openPage } from "./open-page.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(async () => {
  await browser.close();
});

const OPTIONS = { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] };

/** One sentence for each fault of accessibility. */
async function faultsOfAccess(page: Page): Promise<readonly string[]> {
  const { violations } = await page.evaluate<AxeResults>(
    `${axe.source}; axe.run(document, ${JSON.stringify(OPTIONS)})`,
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" | ")}`);
}

const VIEWS = [
  { name: "overview", hash: "", shows: "TooManyNodeDeletions" },
  { name: "list", hash: "#/nodes", shows: "65 Nodes" },
  { name: "list without rows", hash: "#/nodes?search=nowhere", shows: "No Nodes match" },
  { name: "search", hash: "#/all?search=worker-1", shows: "found" },
  { name: "object", hash: "#/node/blocked-1", shows: "Timeline" },
  { name: "object that waits", hash: "#/node/waiting-1", shows: "this resolves automatically" },
  { name: "object that does well", hash: "#/node/well-1", shows: "No problems." },
  { name: "calls", hash: "#/calls", shows: "Quota class" },
  { name: "controllers", hash: "#/controllers", shows: "service-lb-controller" },
  { name: "no such page", hash: "#/pods", shows: "Page not found" },
] as const;

describe.each(["light", "dark"] as const)("in %s colors", (colorScheme) => {
  test.each(VIEWS)("the view has no fault of accessibility: $name", async ({ hash, shows }) => {
    await using opened = await openPage(browser, { colorScheme }, (cluster) => {
      cluster.circuitBreakerOpen = true;
      cluster.awsUnavailable = true;
      cluster.observing = true;
      for (const state of ["blocked", "progressing", "waiting", "unmanaged"] as const) {
        cluster.rows.set(`node/${state}-1`, nodeRow(`${state}-1`, state));
      }
      cluster.rows.set("node/well-1", nodeRow("well-1", "ok"));
    });
    const { page, server } = opened;
    await opened.go(hash);
    server.sendSample();
    server.sendSample();
    await page.getByText(shows).first().waitFor();
    expect(await faultsOfAccess(page)).toEqual([]);
  });

  test("a lost connection has none either", async () => {
    await using opened = await openPage(browser, { colorScheme });
    const { page, server } = opened;
    await opened.go("#/services");
    server.cut(503);
    await page.getByText("Connection lost:").waitFor();
    expect(await faultsOfAccess(page)).toEqual([]);
  });
});

const backOf = (page: Page): Promise<string> =>
  page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
const LIGHT = "rgb(244, 246, 249)";
const DARK = "rgb(17, 21, 27)";

describe("colors", () => {
  test("follow the system until the user chooses, and the choice is kept", async () => {
    await using opened = await openPage(browser, { colorScheme: "dark" });
    const { page } = opened;
    await opened.go("");
    expect(await backOf(page)).toBe(DARK);
    await page.emulateMedia({ colorScheme: "light" });
    expect(await backOf(page)).toBe(LIGHT);
    await page.getByLabel("Theme").selectOption("dark");
    expect(await backOf(page)).toBe(DARK);
    await page.reload();
    await page.getByText("Live", { exact: true }).waitFor();
    expect(await backOf(page)).toBe(DARK);
    await page.getByLabel("Theme").selectOption("auto");
    expect(await backOf(page)).toBe(LIGHT);
  });
});

describe("a narrow window", () => {
  test.each(VIEWS)("is enough, without scrolling sideways: $name", async ({ hash }) => {
    await using opened = await openPage(browser, { viewport: { width: 360, height: 700 } }, (cluster) => {
      cluster.circuitBreakerOpen = true;
      cluster.replica = {
        ...cluster.replica,
        identity: `${"cloud-controller-manager-".repeat(4)}_6f1c`,
        isLeader: false,
      };
      for (const name of ["blocked-1", `ip-10-0-0-1.${"eu-central-1".repeat(12)}.internal`]) {
        cluster.rows.set(`node/${name}`, { ...nodeRow(name, "blocked"), provider: "a-provider-with-quite-a-name" });
      }
      cluster.rows.set("node/waiting-1", nodeRow("waiting-1", "waiting"));
      cluster.rows.set("node/well-1", nodeRow("well-1", "ok"));
    });
    const { page } = opened;
    await opened.go(hash);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  });
});

test("in a narrow window the view that is open is in sight among the others", async () => {
  await using opened = await openPage(browser, { viewport: { width: 360, height: 700 } });
  const { page } = opened;
  await opened.go("#/controllers");
  const tab = page.getByRole("navigation").getByRole("link", { name: "Controllers" });
  await expect.poll(async () => isInSight(await tab.boundingBox(), 360)).toBe(true);
});

function isInSight(box: { readonly x: number; readonly width: number } | null, width: number): boolean {
  return box !== null && box.x >= 0 && box.x + box.width <= width;
}

test("nothing moves for who wants that", async () => {
  await using opened = await openPage(browser, { reducedMotion: "reduce" });
  const { page } = opened;
  await opened.go("");
  expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
});
