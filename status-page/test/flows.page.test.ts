import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startBrowser } from "./browser.ts";
import { nodeRow, serviceRow } from "./clusters.ts";
import { openPage } from "./open-page.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(async () => {
  await browser.close();
});

const hashOf = (page: Page): string => new URL(page.url()).hash;
const namesIn = (page: Page): Promise<readonly string[]> => page.locator("[role=grid] .cell-name a").allTextContents();
const scrollList = async (page: Page, top: number): Promise<void> => {
  await page.getByRole("grid").evaluate((element, top) => element.scrollTo(0, top), top);
  await page.locator(`.grid-rows [role=row][aria-rowindex="${Math.floor(top / 36) + 4}"]`).waitFor();
};
const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name });

describe("the way through the page", () => {
  test("leads from the overview to a list, to an object, and back to the same place", async () => {
    await using opened = await openPage(browser);
    const { page, faults } = opened;
    await opened.go("");
    await page.getByRole("link", { name: /Services, ok/ }).click();
    await heading(page, "Services").waitFor();
    expect(hashOf(page)).toBe("#/services?state=ok");
    await page.getByLabel("State").selectOption("");
    expect(hashOf(page)).toBe("#/services");
    await page.getByRole("searchbox").fill("web-7");
    await expect.poll(() => namesIn(page)).toEqual(["shop-7/web-7"]);
    const listHash = hashOf(page);
    await page.getByRole("link", { name: "shop-7/web-7" }).click();
    await heading(page, "shop-7/web-7").waitFor();
    expect(hashOf(page)).toBe("#/service/shop-7/web-7");
    await expect.poll(() => page.title()).toBe("Service shop-7/web-7 · Cloudwire");
    await page.goBack();
    await heading(page, "Services").waitFor();
    expect(hashOf(page)).toBe(listHash);
    expect(await namesIn(page)).toEqual(["shop-7/web-7"]);
    expect(faults).toEqual([]);
  });

  test("shows all that is known of an object, from its address alone", async () => {
    await using opened = await openPage(browser, {}, ({ rows }) => {
      rows.set("service/shop/web", serviceRow("shop/web", "blocked"));
    });
    const { page, faults } = opened;
    await opened.go("#/service/shop/web");
    const causes = page.getByRole("region", { name: "Causes" });
    await causes.getByText("QuotaExceeded").waitFor();
    const text = await page.getByRole("main").innerText();
    for (const part of [
      "A cloud quota is exceeded.",
      "What to do: Request a higher quota",
      "docs/guides/limits-and-capabilities.md",
      "(back-off after 3 failures)",
      "load balancer with ports 80/TCP, 443/TCP",
      "6d0c2a3e-9f54-4f0c-9a41-1f2b6a3d7e90",
      "RESOURCE_EXHAUSTED: the quota of load balancers is used up (50 of 50)",
      "not running here: the provider has no routes",
      "req-8f2d61a0-77e1",
      "for 240 objects",
      "to aws",
      "SyncLoadBalancerFailed",
      "3 times in a row",
    ]) {
      expect(text).toContain(part);
    }
    expect(faults).toEqual([]);
  });

  test("counts down to the next retry", async () => {
    await using opened = await openPage(browser, {}, ({ rows }) => {
      rows.set("service/shop/web", serviceRow("shop/web", "waiting"));
    });
    const { page } = opened;
    await opened.go("#/service/shop/web");
    const countdown = page.locator(".next-retry .countdown");
    await countdown.getByText("in 42 s").waitFor();
    await countdown.getByText("in 40 s").waitFor();
    expect(await page.locator(".next-retry").innerText()).toContain("Next retry");
  });

  test("searches everything from anywhere", async () => {
    await using opened = await openPage(browser);
    const { page } = opened;
    await opened.go("#/calls");
    await heading(page, "Calls").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("worker-11");
    await heading(page, "Search").waitFor();
    await expect.poll(() => namesIn(page)).toEqual(expect.arrayContaining(["worker-11", "worker-11"]));
    expect(hashOf(page)).toBe("#/all?search=worker-11");
    await page.goBack();
    await heading(page, "Calls").waitFor();
  });

  test("letters that come without a pause are one search, and one step back", async () => {
    await using opened = await openPage(browser);
    const { page } = opened;
    await opened.go("#/calls");
    await page.getByRole("searchbox").evaluate((field) => {
      if (!(field instanceof HTMLInputElement)) throw new Error("the search is no field");
      for (const letter of "web") {
        field.value += letter;
        field.dispatchEvent(new InputEvent("input", { bubbles: true }));
      }
    });
    await heading(page, "Search").waitFor();
    expect(hashOf(page)).toBe("#/all?search=web");
    await page.goBack();
    await heading(page, "Calls").waitFor();
  });

  test("opens the row that is clicked on, at any scroll position", async () => {
    await using opened = await openPage(browser, { size: { nodes: 400, services: 0 } });
    const { page } = opened;
    await opened.go("#/nodes");
    await page.getByText("400 Nodes", { exact: true }).waitFor();
    await scrollList(page, 7_200);
    const row = page.locator('.grid-rows [role=row][aria-rowindex="206"]');
    const name = await row.locator("a").innerText();
    await row.locator(".cell-summary").click();
    await heading(page, name).waitFor();
    expect(hashOf(page)).toBe(`#/node/${name}`);
  });

  test("keeps the scroll position of a list while another page is shown", async () => {
    await using opened = await openPage(browser, { size: { nodes: 400, services: 0 } });
    const { page } = opened;
    await opened.go("#/nodes");
    await page.getByText("400 Nodes", { exact: true }).waitFor();
    await scrollList(page, 7_200);
    await page.getByRole("link", { name: "Calls" }).click();
    await heading(page, "Calls").waitFor();
    await page.goBack();
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute("role"))).toBe("grid");
    expect(await page.getByRole("grid").evaluate(({ scrollTop }) => scrollTop)).toBe(7_200);
  });

  test("begins at the top with each other choice of rows", async () => {
    await using opened = await openPage(browser, { size: { nodes: 400, services: 0 } });
    const { page } = opened;
    const top = (): Promise<number> => page.getByRole("grid").evaluate(({ scrollTop }) => scrollTop);
    await opened.go("#/nodes");
    await page.getByText("400 Nodes", { exact: true }).waitFor();
    await scrollList(page, 7_200);
    await page.getByRole("searchbox").fill("worker-1");
    await page.getByText("111 Nodes found").waitFor();
    expect(await top()).toBe(0);
    await scrollList(page, 1_800);
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByRole("link", { name: /Nodes, ok/ }).click();
    await heading(page, "Nodes").waitFor();
    expect(await top()).toBe(0);
  });

  test("filters by state and by provider, and keeps that in its address", async () => {
    await using opened = await openPage(browser, {}, ({ rows }) => {
      rows.set("node/metal-1", { ...nodeRow("metal-1", "blocked"), provider: "iron" });
      rows.set("node/metal-2", { ...nodeRow("metal-2", "ok"), provider: "iron" });
    });
    const { page } = opened;
    await opened.go("#/nodes");
    await page.getByLabel("Provider").selectOption({ label: "iron" });
    await expect.poll(() => namesIn(page)).toEqual(["metal-1", "metal-2"]);
    await page.getByLabel("State").selectOption("ok");
    await expect.poll(() => namesIn(page)).toEqual(["metal-2"]);
    expect(hashOf(page)).toBe("#/nodes?state=ok&provider=iron");
    await page.reload();
    await expect.poll(() => namesIn(page)).toEqual(["metal-2"]);
    await page.getByLabel("State").selectOption("progressing");
    await page.getByText("No Nodes match the search and filters.").waitFor();
  });

  test("works behind a proxy that puts a path before the controller's, as the API server's does", async () => {
    const prefix = "/api/v1/namespaces/kube-system/pods/https:ccm-0:10258/proxy";
    await using opened = await openPage(browser, { prefix });
    const { page, faults } = opened;
    await opened.go("#/node/worker-1");
    await page.getByRole("region", { name: "Timeline" }).getByText("EnsuringLoadBalancer").first().waitFor();
    expect(faults).toEqual([]);
  });

  test("says so where there is nothing at an address", async () => {
    await using opened = await openPage(browser);
    const { page, faults } = opened;
    await opened.go("#/pods");
    await heading(page, "Page not found").waitFor();
    await page.goto(`${opened.server.url}#/node/absent`);
    await page
      .getByRole("alert")
      .getByText("the controller responded with 404 Not Found: there is no such object")
      .waitFor();
    expect(faults).toEqual([]);
  });
});

describe("what is seen", () => {
  test("text of the cluster stays text", async () => {
    const hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
    await using opened = await openPage(browser, {}, ({ rows }) => {
      rows.set("node/evil", { ...nodeRow("evil", "blocked"), summary: hostile, reason: "<b>Bold</b>" });
    });
    const { page, faults } = opened;
    await opened.go("#/nodes?search=evil");
    await page.getByText(hostile).waitFor();
    await page.getByRole("link", { name: "evil" }).click();
    await page.locator(".summary").getByText(hostile).waitFor();
    expect(await page.locator("main img, main script, main b").count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("a cause without a remedy needs no action", async () => {
    await using opened = await openPage(browser, {}, ({ rows }) => {
      rows.set("node/waits", nodeRow("waits", "waiting"));
      rows.set("node/foreign", nodeRow("foreign", "unmanaged"));
    });
    const { page } = opened;
    const remedy = page.getByRole("region", { name: "Causes" }).locator(".remedy");
    await opened.go("#/node/waits");
    await expect.poll(() => remedy.innerText()).toBe("What to do: No action needed; this resolves automatically.");
    await opened.go("#/node/foreign");
    await expect.poll(() => remedy.innerText()).toBe("What to do: No action needed.");
  });

  test("alarms come first and link to their objects", async () => {
    await using opened = await openPage(browser, {}, (cluster) => {
      cluster.circuitBreakerOpen = true;
      cluster.awsUnavailable = true;
    });
    const { page, cluster, server } = opened;
    await opened.go("");
    const alarms = page.getByRole("region", { name: "Alarms" });
    await alarms.getByText("TooManyNodeDeletions", { exact: true }).waitFor();
    expect(await alarms.innerText()).toContain("cloudwire approve node-deletion NAME");
    expect(await page.locator("main h2").first().innerText()).toBe("Alarms");
    const guard = page.getByRole("region", { name: "Providers and deletion circuit breaker" });
    expect(await guard.innerText()).toMatch(/aws[^]*transient failure, not ready[^]*open[^]*metal[^]*ready[^]*closed/);
    await alarms.getByRole("link", { name: "Provider aws" }).first().click();
    await heading(page, "aws").waitFor();
    cluster.circuitBreakerOpen = false;
    server.sendOverview();
    await page.getByRole("navigation").getByText("1 alarm", { exact: true }).waitFor();
    cluster.awsUnavailable = false;
    server.sendOverview();
    await expect.poll(() => page.getByRole("navigation").innerText()).not.toContain("alarm");
  });

  test("the replica is shown: a standby and observe mode are marked", async () => {
    await using opened = await openPage(browser, {}, (cluster) => {
      cluster.replica = { identity: "pod-b", isLeader: false, leaderIdentity: "pod-a", version: "0.1.0" };
      cluster.observing = true;
    });
    const { page } = opened;
    await opened.go("");
    await page.getByText("Connected to a standby.").waitFor();
    const banners = await page.locator(".banners").innerText();
    expect(banners).toContain("Connected to pod-b (standby), version 0.1.0.");
    expect(banners).toContain("the leader is pod-a.");
    expect(banners).toContain("Observe mode.");
    const guard = page.getByRole("region", { name: "Providers and deletion circuit breaker" });
    await guard.getByText("available only on the leader").first().waitFor();
    expect(await guard.innerText()).not.toContain("closed");
  });

  test("plots show rates and budgets, with the last values as text", async () => {
    await using opened = await openPage(browser);
    const { page, server, faults } = opened;
    await opened.go("#/calls");
    server.sendSample();
    server.sendOverview();
    server.sendSample();
    await page.getByRole("img", { name: "Calls per second, by provider", exact: true }).waitFor();
    await expect
      .poll(() => page.getByRole("region", { name: "Calls per second", exact: true }).innerText())
      .toMatch(/aws \d+(\.\d+)?\/s[^]*metal/);
    expect(await page.locator(".plot path.line").count()).toBe(2 + 2 + 4 + 4);
    await page.getByRole("link", { name: "Controllers" }).click();
    await page.getByRole("img", { name: "Reconciles per second, by controller" }).waitFor();
    await page.getByRole("rowheader", { name: "service-lb-controller" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("the document has only the visible rows of a long list, at any scroll position", async () => {
    await using opened = await openPage(browser, { size: { nodes: 5_000, services: 1_000 } });
    const { page } = opened;
    await opened.go("#/nodes");
    await page.getByText("5,000 Nodes", { exact: true }).waitFor();
    const grid = page.getByRole("grid");
    expect(await grid.getAttribute("aria-rowcount")).toBe("5001");
    const seen: number[] = [];
    for (const share of [0, 0.5, 1]) {
      await grid.evaluate((element, share) => element.scrollTo(0, element.scrollHeight * share), share);
      await expect.poll(() => page.locator("[role=grid] .cell-name a").count()).toBeLessThan(60);
      seen.push(Number(await page.locator(".grid-rows [role=row]").first().getAttribute("aria-rowindex")));
    }
    expect(seen[0]).toBe(2);
    await expect.poll(() => page.locator('.grid-rows [role=row][aria-rowindex="5001"]').count()).toBe(1);
  });
});
