import type { Browser } from "playwright-core";
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

describe("while the page is open", () => {
  test("what changes is seen at once: in a list, in the counts, and in an object", async () => {
    await using opened = await openPage(browser, { size: { nodes: 3, services: 0 } }, ({ rows }) => {
      rows.set("service/shop/web", serviceRow("shop/web", "working"));
    });
    const { page, server } = opened;
    await opened.go("#/services");
    const row = page.getByRole("row", { name: /shop\/web/ });
    await row.getByText("working").waitFor();
    server.change([serviceRow("shop/web", "blocked"), serviceRow("shop/new", "ok")]);
    await row.getByText("QuotaExceeded").waitFor();
    await page.getByRole("row", { name: /shop\/new/ }).waitFor();
    server.change([], ["service/shop/new"]);
    await page.getByText("1 Service", { exact: true }).waitFor();
    await page.getByRole("link", { name: "shop/web" }).click();
    await page.getByRole("region", { name: "What stands in the way" }).getByText("QuotaExceeded").waitFor();
    server.change([serviceRow("shop/web", "ok")]);
    await page.getByText("Nothing does.").waitFor();
    await page.getByRole("link", { name: "Overview" }).click();
    server.sendOverview();
    await page.getByRole("link", { name: "1 Services, ok" }).waitFor();
    expect(opened.faults).toEqual([]);
  });

  test("a lost connection is said plainly, what is old is marked, and the page comes back by itself", async () => {
    await using opened = await openPage(browser, { size: { nodes: 3, services: 0 } });
    const { page, server, cluster } = opened;
    await opened.go("#/nodes");
    await page.getByText("3 Nodes", { exact: true }).waitFor();
    server.cut(503);
    const alert = page.getByRole("alert");
    await alert.getByText("Connection lost:").waitFor();
    await alert.getByText("the controller answers 503 Service Unavailable: not now").waitFor();
    expect(await alert.innerText()).toContain("What you see may be out of date.");
    expect(await page.getByRole("main").getAttribute("class")).toBe("stale");
    expect(await page.getByRole("row", { name: /worker-/ }).count()).toBe(3);
    cluster.rows.delete("node/worker-2");
    cluster.rows.set("node/worker-9", nodeRow("worker-9", "ok"));
    server.mend();
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByRole("row", { name: /worker-9/ }).waitFor();
    await expect.poll(() => page.getByRole("row", { name: /worker-2/ }).count()).toBe(0);
    expect(await alert.innerText()).toBe("");
    expect(await page.getByRole("main").getAttribute("class")).toBe("");
    expect(server.streams()).toBe(1);
  });

  test("a stream that the controller ends in order is no loss: the page goes on with another", async () => {
    await using opened = await openPage(browser, { size: { nodes: 3, services: 0 } });
    const { page, server, cluster } = opened;
    await opened.go("#/nodes");
    await page.getByText("3 Nodes", { exact: true }).waitFor();
    await page.evaluate(() => {
      const mark = document.querySelector(".connection");
      if (mark === null) throw new Error("the page does not say how it is connected");
      new MutationObserver(() => document.body.setAttribute("data-said", mark.textContent)).observe(mark, {
        characterData: true,
        childList: true,
        subtree: true,
      });
    });
    cluster.rows.set("node/worker-9", nodeRow("worker-9", "ok"));
    server.endStreams();
    await page.getByRole("row", { name: /worker-9/ }).waitFor();
    expect(server.streams()).toBe(1);
    expect(await page.locator("body").getAttribute("data-said")).toBeNull();
  });

  test("somebody who does not want to wait tries at once", async () => {
    await using opened = await openPage(browser);
    const { page, server } = opened;
    await opened.go("");
    server.cut(403);
    await page.getByText("the controller answers 403 Forbidden: not now").waitFor();
    server.mend();
    await page.getByRole("button", { name: "Try now" }).click();
    await page.getByText("Live", { exact: true }).waitFor();
    expect(server.streams()).toBe(1);
  });

  test("another version of the controller is told, and the page may be loaded anew", async () => {
    await using opened = await openPage(browser);
    const { page, server, cluster } = opened;
    await opened.go("");
    cluster.replica = { ...cluster.replica, version: "0.2.0" };
    server.sendOverview();
    await page.getByText("The controller is version 0.2.0 now, and this page is of 0.1.0.").waitFor();
    await page.getByRole("button", { name: "Load it anew" }).click();
    await page.getByText("version 0.2.0, which leads.").waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Load it anew" }).count()).toBe(0);
  });
});
