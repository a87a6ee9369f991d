import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startBrowser } from "./browser.ts";
import { createRandom, nodeRow, overviewOf, serviceRow } from "./clusters.ts";
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
      rows.set("service/shop/web", serviceRow("shop/web", "progressing"));
    });
    const { page, server } = opened;
    await opened.go("#/services");
    const row = page.getByRole("row", { name: /shop\/web/ });
    await row.getByText("progressing").waitFor();
    server.change([serviceRow("shop/web", "blocked"), serviceRow("shop/new", "ok")]);
    await row.getByText("QuotaExceeded").waitFor();
    await page.getByRole("row", { name: /shop\/new/ }).waitFor();
    server.change([], ["service/shop/new"]);
    await page.getByText("1 Service", { exact: true }).waitFor();
    await page.getByRole("link", { name: "shop/web" }).click();
    await page.getByRole("region", { name: "Causes" }).getByText("QuotaExceeded").waitFor();
    server.change([serviceRow("shop/web", "ok")]);
    await page.getByText("No problems.").waitFor();
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
    await alert.getByText("the controller responded with 503 Service Unavailable: not now").waitFor();
    expect(await alert.innerText()).toContain("The data may be out of date.");
    expect(await page.getByRole("main").getAttribute("class")).toBe("stale");
    expect(await page.getByRole("row", { name: /worker-/ }).count()).toBe(3);
    cluster.rows.delete("node/worker-2");
    cluster.rows.set("node/worker-9", nodeRow("worker-9", "ok"));
    server.restore();
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

  test("a hidden page closes its connection after five minutes, and reconnects when it is visible again", async () => {
    await using opened = await openPage(browser, { size: { nodes: 3, services: 0 } });
    const { page, server, cluster } = opened;
    await page.clock.install();
    await opened.go("#/nodes");
    const look = (isHidden: boolean): Promise<void> =>
      page.evaluate((hidden) => {
        Object.defineProperty(document, "hidden", { configurable: true, value: hidden });
        document.dispatchEvent(new Event("visibilitychange"));
      }, isHidden);
    await look(true);
    await page.clock.fastForward(290_000);
    await look(false);
    // Nothing was heard for so long that there is another connection by now.
    await page.clock.fastForward(10_000);
    await expect.poll(() => server.streams()).toBe(1);
    await page.getByText("Live", { exact: true }).waitFor();
    await look(true);
    await page.clock.fastForward(20_000);
    server.change([nodeRow("worker-8", "ok")]);
    await page.getByRole("row", { name: /worker-8/ }).waitFor();
    await page.clock.fastForward(290_000);
    await expect.poll(() => server.streams()).toBe(0);
    await page.clock.fastForward(3_600_000);
    expect(server.streams()).toBe(0);
    expect(await page.getByRole("alert").innerText()).toBe("");
    cluster.rows.set("node/worker-9", nodeRow("worker-9", "ok"));
    await look(false);
    await page.getByRole("row", { name: /worker-9/ }).waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
    expect([server.streams(), opened.faults]).toEqual([1, []]);
  });

  test("a user can retry immediately", async () => {
    await using opened = await openPage(browser);
    const { page, server } = opened;
    await opened.go("");
    server.cut(403);
    await page.getByText("the controller responded with 403 Forbidden: not now").waitFor();
    server.restore();
    await page.getByRole("button", { name: "Retry now" }).click();
    await page.getByText("Live", { exact: true }).waitFor();
    expect(server.streams()).toBe(1);
  });

  test("after a reconnect the page is stale until the controller has sent everything again", async () => {
    await using opened = await openPage(browser, { size: { nodes: 3, services: 0 } });
    const { page, server } = opened;
    await opened.go("#/nodes");
    await page.getByText("3 Nodes", { exact: true }).waitFor();
    server.cut(503);
    await page.getByText("Connection lost:").waitFor();
    server.restore();
    server.fallSilent();
    await page.getByRole("button", { name: "Retry now" }).click();
    await page.getByText("Connecting", { exact: true }).waitFor();
    await expect.poll(() => server.streams()).toBe(1);
    expect(await page.getByRole("main").getAttribute("class")).toBe("stale");
    server.restore();
    await page.getByText("Live", { exact: true }).waitFor();
    await expect.poll(() => page.getByRole("main").getAttribute("class")).toBe("");
  });

  test("what cannot be read ends its connection, and the next one is followed", async () => {
    await using opened = await openPage(browser, { size: { nodes: 3, services: 0 } });
    const { page, server } = opened;
    await opened.go("#/nodes");
    server.sendText("event: rows\ndata: {\n\n");
    await page.getByText("Connection lost:").waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
    await expect.poll(() => server.streams()).toBe(1);
  });

  test("an answer that is no stream is said to be none", async () => {
    await using opened = await openPage(browser);
    const { page } = opened;
    await page.route("**/debug/stream", (route) => route.fulfill({ contentType: "text/html", body: "<p>Log in</p>" }));
    await page.goto(opened.server.url);
    await page.getByText("Connection lost:").waitFor();
    expect(await page.getByRole("alert").innerText()).toContain(
      "the response is not the controller's stream: its content type is text/html.",
    );
  });

  test("all that came before the first frame is shown, though nothing comes after it", async () => {
    await using opened = await openPage(browser);
    const { page, cluster } = opened;
    const text = `event: overview\ndata: ${JSON.stringify(overviewOf(cluster, createRandom(1)))}\n\nevent: complete\ndata: {"rows":0}\n\n`;
    await page.addInitScript((said) => {
      const ask = globalThis.fetch;
      const body = (): ReadableStream =>
        new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(said)) });
      const headers = { "content-type": "text/event-stream" };
      globalThis.fetch = async (input, init) =>
        input instanceof URL && input.pathname === "/debug/stream"
          ? new Response(body(), { headers })
          : ask(input, init);
    }, text);
    await page.goto(opened.server.url);
    await page.getByText("Live", { exact: true }).waitFor({ timeout: 5_000 });
    expect(await page.getByRole("heading", { name: "Objects by state" }).count()).toBe(1);
  });

  test("times follow the controller's clock, not this machine's", async () => {
    const anHourMs = 3_600_000;
    await using opened = await openPage(browser, { size: { nodes: 1, services: 0 } });
    const { page, server } = opened;
    await opened.go("#/nodes");
    const age = page.locator(".grid-rows .cell-age");
    await expect.poll(() => age.innerText()).toBe("2 h ago");
    server.sendOverview(new Date(Date.now() + anHourMs));
    await expect.poll(() => age.innerText()).toBe("3 h ago");
    server.sendOverview(new Date(Date.now() - 3 * anHourMs));
    await expect.poll(() => age.innerText()).toBe("just now");
  });

  test("an object is asked about once at a time, and no longer than there is hope for an answer", async () => {
    await using opened = await openPage(browser);
    const { page } = opened;
    let asked = 0;
    await page.clock.install();
    await page.route("**/debug/explain**", () => {
      asked += 1;
    });
    await opened.go("#/nodes");
    await page.getByRole("link", { name: "worker-1", exact: true }).click();
    await expect.poll(() => asked).toBe(1);
    await page.clock.fastForward(6_000);
    await page.getByText("Loading").waitFor();
    expect(asked).toBe(1);
    await page.clock.fastForward(6_000);
    await page.getByRole("alert").getByText("the controller has not responded for 10 s").waitFor();
    await page.clock.fastForward(6_000);
    await expect.poll(() => asked).toBe(2);
  });

  test("a view that breaks says so, and the others are still there", async () => {
    await using opened = await openPage(browser);
    const { page } = opened;
    await page.route("**/debug/explain**", (route) => route.fulfill({ json: { replica: {} } }));
    await opened.go("#/node/worker-1");
    await page.getByRole("alert").getByText("This view failed (page bug)").waitFor();
    await page.getByRole("navigation").getByRole("link", { name: "Nodes" }).click();
    await page.getByText("60 Nodes", { exact: true }).waitFor();
    expect(await page.getByText("This view failed").count()).toBe(0);
  });

  test("the page reports another version of the controller and offers a reload", async () => {
    await using opened = await openPage(browser);
    const { page, server, cluster } = opened;
    await opened.go("");
    cluster.replica = { ...cluster.replica, version: "0.2.0" };
    server.sendOverview();
    await page.getByText("The controller now has version 0.2.0; this page has 0.1.0.").waitFor();
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByText("(leader), version 0.2.0.").waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Reload" }).count()).toBe(0);
  });
});
