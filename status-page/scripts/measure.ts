// Measures the page at 5,000 Nodes and 1,000 Services in Chromium, and fails where it is slower or larger than it may be:
//   npm run measure -w @cloudwire/status-page -- --minutes 30
// First contentful paint, frames a second while a list is scrolled and changes, and the heap after a garbage collection, each minute of churn.
import process from "node:process";
import { parseArgs } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, CDPSession, Page } from "playwright-core";
import { startBrowser } from "../test/browser.ts";
import { createChurn } from "../test/churn.ts";
import { createCluster } from "../test/clusters.ts";
import { type FixtureServer, startFixtureServer } from "../test/fixture-server.ts";
import { slopeOf } from "../test/slope.ts";

const NODES = 5_000;
const SERVICES = 1_000;

const MOST_PAINT_MS = 1_000;
const LEAST_FRAMES = 50;
/** What the heap may grow by: an hour at this rate would be a tenth of what it is. */
const MOST_GROWTH_BYTES_PER_MINUTE = 20_000;
const LOADS = 5;
const SCROLL_MS = 5_000;
const SCROLL_RUNS = 5;
/** A wheel that is turned fast: 170 rows. */
const PIXELS_PER_SECOND = 6_000;
const MINUTE_MS = 60_000;

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { minutes: { type: "string", default: "30" } } });
  const minutes = Number(values.minutes);
  if (!Number.isInteger(minutes) || minutes < 0) {
    console.error(
      `measure: --minutes: want a whole number, 0 for the first two measurements only, got ${values.minutes}`,
    );
    return 2;
  }
  const cluster = createCluster({ nodes: NODES, services: SERVICES });
  const server = await startFixtureServer(cluster);
  // Where a machine has no GPU, Chromium makes one up in software, which is slower than drawing in software at once.
  const browser = await startBrowser(["--disable-gpu"]);
  try {
    console.log(
      `Chromium ${browser.version()}, ${NODES} Nodes, ${SERVICES} Services, ${cluster.rows.size} rows in all`,
    );
    const paintMs = await paints(browser, server);
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await openList(page, server);
    const change = createChurn(cluster, server);
    const churn = { isPaused: false };
    const churning = setInterval(() => (churn.isPaused ? undefined : change()), 1_000);
    const framesPerSecond = await scrolling(page);
    const growth = minutes === 0 ? 0 : await growing(page, server, minutes, churn);
    clearInterval(churning);
    return report({ paintMs, framesPerSecond, growth });
  } finally {
    await browser.close();
    await server.close();
  }
}

async function openList(page: Page, server: FixtureServer): Promise<void> {
  await page.goto(`${server.url}#/nodes`);
  await page.getByText(`${NODES.toLocaleString("en")} Nodes`, { exact: true }).waitFor();
}

/** The slowest of some loads, each without anything kept from the one before. */
async function paints(browser: Browser, server: FixtureServer): Promise<number> {
  const first: number[] = [];
  const whole: number[] = [];
  for (let load = 0; load < LOADS; load += 1) {
    const page = await browser.newPage();
    await openList(page, server);
    whole.push(await page.evaluate(() => performance.now()));
    first.push(await firstPaintMs(page));
    await page.context().close();
  }
  console.log(`first contentful paint after ${list(first)} ms; all rows there after ${list(whole)} ms`);
  return Math.max(...first);
}

/** Frames a second, the middle of some runs: what else the machine does in one of them is not the page's. */
async function scrolling(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  // Of the processor's time: what others take of it does not count.
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const atRest = await framesWhileScrolling(page, 0, SCROLL_MS);
  console.log(`at rest: ${atRest.perSecond.toFixed(1)} frames/s, which is all that this machine has now`);
  const rates: number[] = [];
  for (let run = 0; run < SCROLL_RUNS; run += 1) {
    const before = await workSeconds(session);
    const { perSecond, longestMs, late, count } = await framesWhileScrolling(page, PIXELS_PER_SECOND, SCROLL_MS);
    const workMs = (((await workSeconds(session)) - before) * 1_000) / count;
    rates.push(perSecond);
    console.log(
      `scrolling ${PIXELS_PER_SECOND} px/s while 60 rows change a second: ${perSecond.toFixed(1)} frames/s, longest ${longestMs.toFixed(0)} ms, ` +
        `${late} of ${count} later than 20 ms, ${workMs.toFixed(1)} ms of the page's own work a frame`,
    );
  }
  await session.detach();
  return rates.toSorted((a, b) => a - b)[Math.floor(SCROLL_RUNS / 2)] ?? 0;
}

/** What the page's thread has worked since it began. */
async function workSeconds(session: CDPSession): Promise<number> {
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0;
}

/** By how many bytes a minute the heap grows. */
async function growing(
  page: Page,
  server: FixtureServer,
  minutes: number,
  churn: { isPaused: boolean },
): Promise<number> {
  const session = await page.context().newCDPSession(page);
  const heaps: number[] = [];
  for (let minute = 0; minute <= minutes; minute += 1) {
    if (minute > 0) await liveOneMinute(page, server.url);
    // Between a change and the frame that shows it the page has both states.
    churn.isPaused = true;
    await page.evaluate(() => new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve), 500)));
    const bytes = await heapBytes(session);
    churn.isPaused = false;
    heaps.push(bytes);
    console.log(
      `after ${String(minute).padStart(2)} min: ${(bytes / 1e6).toFixed(2)} MB of heap, ${await nodeCount(session)} DOM nodes`,
    );
  }
  // The first minutes fill what is kept of samples.
  const settled = heaps.slice(Math.floor(heaps.length / 3));
  const slope = slopeOf(settled);
  console.log(`the heap grows by ${(slope / 1e3).toFixed(1)} kB a minute, over the last ${settled.length - 1} minutes`);
  return slope;
}

interface Measurements {
  readonly paintMs: number;
  readonly framesPerSecond: number;
  /** Bytes a minute. */
  readonly growth: number;
}

function report({ paintMs, framesPerSecond, growth }: Measurements): number {
  const faults = [
    ...(paintMs < MOST_PAINT_MS ? [] : [`first content after ${paintMs} ms, want less than ${MOST_PAINT_MS}`]),
    ...(framesPerSecond >= LEAST_FRAMES ? [] : [`${framesPerSecond} frames a second, want ${LEAST_FRAMES}`]),
    ...(growth <= MOST_GROWTH_BYTES_PER_MINUTE
      ? []
      : [`the heap grows by ${growth} bytes a minute, want ${MOST_GROWTH_BYTES_PER_MINUTE} at most`]),
  ];
  for (const fault of faults) console.log(`FAILED: ${fault}`);
  if (faults.length === 0) console.log("all within bounds");
  return faults.length === 0 ? 0 : 1;
}

async function firstPaintMs(page: Page): Promise<number> {
  return page.evaluate(
    () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.POSITIVE_INFINITY,
  );
}

interface Frames {
  readonly count: number;
  readonly perSecond: number;
  readonly longestMs: number;
  /** Of more than 20 ms. */
  readonly late: number;
}

/** Scrolls the list down at that many pixels a second, and looks at the times between frames. */
async function framesWhileScrolling(page: Page, speed: number, forMs: number): Promise<Frames> {
  return page.evaluate(
    async ({ speed, forMs }) => {
      const grid = document.querySelector("[role=grid]");
      if (grid === null) throw new Error("there is no list");
      const times: number[] = [];
      await new Promise<void>((resolve) => {
        const startedMs = performance.now();
        const step = (nowMs: number): void => {
          times.push(nowMs);
          const top = ((nowMs - startedMs) / 1_000) * speed;
          if (speed > 0) grid.scrollTop = top % grid.scrollHeight;
          if (nowMs - startedMs < forMs) requestAnimationFrame(step);
          else resolve();
        };
        requestAnimationFrame(step);
      });
      const gaps = times.slice(1).map((time, index) => time - (times[index] ?? time));
      return {
        count: gaps.length,
        perSecond: (gaps.length * 1_000) / gaps.reduce((sum, gap) => sum + gap, 0),
        longestMs: Math.max(...gaps),
        late: gaps.filter((gap) => gap > 20).length,
      };
    },
    { speed, forMs },
  );
}

/** Looks at each view for some seconds, and ends where it began. */
async function liveOneMinute(page: Page, url: string): Promise<void> {
  const views = ["#/", "#/service/shop-1/web-1", "#/calls", "#/controllers", "#/all?search=9", "#/nodes"];
  for (const view of views) {
    await page.goto(`${url}${view}`);
    await sleep(MINUTE_MS / views.length);
  }
}

async function heapBytes(session: CDPSession): Promise<number> {
  // Twice: what finalizers let go of is collected by the second.
  await session.send("HeapProfiler.collectGarbage");
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return usedSize;
}

async function nodeCount(session: CDPSession): Promise<number> {
  const { nodes } = await session.send("Memory.getDOMCounters");
  return nodes;
}

function list(values: readonly number[]): string {
  return values.map((value) => Math.round(value)).join(", ");
}

process.exitCode = await main();
