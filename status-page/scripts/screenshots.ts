// Takes the screenshots for the documentation, of a fictional cluster: npm run screenshots -w @cloudwire/status-page
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { startBrowser } from "../test/browser.ts";
import { type Cluster, createCluster, serviceRow } from "../test/clusters.ts";
import { type FixtureServer, startFixtureServer } from "../test/fixture-server.ts";

const DIRECTORY = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), "docs/guides/images");

/** Enough for the plots. */
const SAMPLES = 60;
const SAMPLE_EVERY_MS = 5_000;

interface Screenshot {
  readonly name: string;
  readonly hash: string;
  readonly colors: "light" | "dark";
  readonly width: number;
  readonly height: number;
  /** Actions before the screenshot. */
  readonly prepare?: (page: Page, server: FixtureServer) => Promise<void>;
}

const SCREENSHOTS: readonly Screenshot[] = [
  { name: "overview", hash: "#/", colors: "light", width: 1100, height: 780 },
  {
    name: "list",
    hash: "#/services",
    colors: "light",
    width: 1100,
    height: 480,
    prepare: async (page) => {
      await page.keyboard.press("/");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowDown");
    },
  },
  { name: "object", hash: "#/service/shop/web", colors: "light", width: 1100, height: 940 },
  { name: "calls-dark", hash: "#/calls", colors: "dark", width: 1100, height: 720 },
  {
    name: "lost",
    hash: "#/nodes?state=blocked",
    colors: "dark",
    width: 1100,
    height: 360,
    prepare: async (page, server) => {
      server.cut(503);
      await page.getByText("responded with 503").waitFor();
    },
  },
  { name: "narrow", hash: "#/nodes", colors: "light", width: 400, height: 640 },
];

function createShown(): Cluster {
  const cluster = createCluster({ nodes: 5_000, services: 1_000 });
  cluster.circuitBreakerOpen = true;
  cluster.rows.set("service/shop/web", serviceRow("shop/web", "blocked"));
  return cluster;
}

async function take(browser: Browser, screenshot: Screenshot): Promise<void> {
  const server = await startFixtureServer(createShown());
  const { width, height, colors } = screenshot;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: colors,
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  try {
    await page.goto(`${server.url}${screenshot.hash}`);
    await page.getByText("Live", { exact: true }).waitFor();
    for (let sample = SAMPLES; sample > 0; sample -= 1) {
      const at = new Date(Date.now() - sample * SAMPLE_EVERY_MS);
      server.sendOverview(at);
      server.sendSample(at);
    }
    server.sendOverview();
    // The page renders the data in the next frame.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 300))));
    await screenshot.prepare?.(page, server);
    await page.screenshot({ path: join(DIRECTORY, `status-page-${screenshot.name}.png`) });
    console.log(`status-page-${screenshot.name}.png`);
  } finally {
    await context.close();
    await server.close();
  }
}

await mkdir(DIRECTORY, { recursive: true });
const browser = await startBrowser();
try {
  for (const screenshot of SCREENSHOTS) await take(browser, screenshot);
} finally {
  await browser.close();
}
