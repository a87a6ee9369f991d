import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startBrowser } from "./browser.ts";
import { openPage } from "./open-page.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(async () => {
  await browser.close();
});

const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const { activeElement } = document;
    return `${activeElement?.getAttribute("role") ?? activeElement?.tagName.toLowerCase() ?? ""} ${activeElement?.id ?? ""}`.trim();
  });

/** Text of the row that the list says is the active one. */
const active = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const id = document.querySelector("[role=grid]")?.getAttribute("aria-activedescendant") ?? "";
    return document.getElementById(id)?.querySelector("a")?.textContent ?? "";
  });

describe("by keyboard alone", () => {
  test("a user finds an object, opens it, and returns to the same place", async () => {
    await using opened = await openPage(browser, { size: { nodes: 400, services: 0 } }, ({ rows }) => {
      for (const [object, row] of rows) rows.set(object, { ...row, state: "ok" });
    });
    const { page, faults } = opened;
    const press = (...keys: readonly string[]): Promise<void> =>
      keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());
    await opened.go("#/nodes");
    await page.getByText("400 Nodes", { exact: true }).waitFor();
    await press("/");
    expect(await focused(page)).toBe("input search");
    await page.keyboard.type("worker-3");
    await page.getByText("111 Nodes found").waitFor();
    await press("ArrowDown");
    await expect.poll(() => focused(page)).toBe("grid");
    await expect.poll(() => active(page)).toBe("worker-3");
    await press("ArrowDown", "ArrowDown");
    await expect.poll(() => active(page)).toBe("worker-31");
    await press("End");
    await expect.poll(() => active(page)).toBe("worker-399");
    await press("Enter");
    await page.getByRole("heading", { level: 1, name: "worker-399" }).waitFor();
    await expect.poll(() => focused(page)).toBe("h1");
    await press("Escape");
    await page.getByText("111 Nodes found").waitFor();
    await expect.poll(() => focused(page)).toBe("grid");
    await expect.poll(() => active(page)).toBe("worker-399");
    await press("PageUp", "Home");
    await expect.poll(() => active(page)).toBe("worker-3");
    await press("Escape");
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("Escape in the search takes it back, and then leaves the field", async () => {
    await using opened = await openPage(browser);
    const { page } = opened;
    await opened.go("#/nodes?search=worker-1");
    await page.keyboard.press("/");
    await page.keyboard.press("Escape");
    await page.getByText("60 Nodes", { exact: true }).waitFor();
    expect(await focused(page)).toBe("input search");
    await page.keyboard.press("Escape");
    await expect.poll(() => focused(page)).toBe("grid");
  });

  test("Escape leads from an object to its list, where nothing was seen before it", async () => {
    await using opened = await openPage(browser);
    const { page } = opened;
    await opened.go("#/node/worker-1");
    await page.getByRole("heading", { level: 1, name: "worker-1" }).waitFor();
    // A page of its own origin before it would be gone back to.
    await page.evaluate(() => Object.defineProperty(navigation, "canGoBack", { value: false }));
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { level: 1, name: "Nodes" }).waitFor();
    expect(new URL(page.url()).hash).toBe("#/nodes");
  });

  test("Escape in a field of choices is the field's own", async () => {
    await using opened = await openPage(browser);
    const { page } = opened;
    await opened.go("#/node/worker-1");
    await page.getByLabel("Theme").focus();
    await page.keyboard.press("Escape");
    await page.keyboard.press("/");
    expect(new URL(page.url()).hash).toBe("#/node/worker-1");
  });

  test("a list whose active row goes is gone on with from what is in sight", async () => {
    await using opened = await openPage(browser, { size: { nodes: 400, services: 0 } }, ({ rows }) => {
      for (const [object, row] of rows) rows.set(object, { ...row, state: "ok" });
    });
    const { page, server } = opened;
    await opened.go("#/nodes");
    await page.getByText("400 Nodes", { exact: true }).waitFor();
    const grid = page.getByRole("grid");
    await grid.focus();
    await page.keyboard.press("End");
    await expect.poll(() => active(page)).toBe("worker-400");
    server.change([], ["node/worker-400"]);
    await page.getByText("399 Nodes", { exact: true }).waitFor();
    expect(await grid.getAttribute("aria-activedescendant")).toBeNull();
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => active(page)).toMatch(/^worker-3[89]\d$/);
  });

  test("Tab reaches everything, and where it is can be seen", async () => {
    await using opened = await openPage(browser);
    const { page } = opened;
    await opened.go("#/nodes");
    const reached: string[] = [];
    const unseen: string[] = [];
    for (let step = 0; step < 14; step += 1) {
      await page.keyboard.press("Tab");
      const { name, outline } = await page.evaluate(() => {
        const { activeElement } = document;
        if (activeElement === null) throw new Error("nothing has the focus");
        const label = activeElement.getAttribute("aria-label") ?? activeElement.textContent;
        return { name: `${activeElement.tagName} ${label}`, outline: getComputedStyle(activeElement).outlineStyle };
      });
      reached.push(name);
      if (outline === "none") unseen.push(name);
    }
    expect(reached[0]).toBe("A Skip to content");
    expect(reached).toEqual(expect.arrayContaining([expect.stringContaining("A Overview"), "DIV Nodes"]));
    expect(unseen).toEqual([]);
  });

  test("the first link leads past the views", async () => {
    await using opened = await openPage(browser);
    const { page } = opened;
    await opened.go("#/calls");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await focused(page)).toBe("main main");
    expect(new URL(page.url()).hash).toBe("#/calls");
  });
});
