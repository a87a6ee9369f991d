// Memory that a burst of work has left is given back to the system. V8 keeps the pages of objects that are gone for the next ones, and
// collects old objects only as new ones come: a program that has become idle stays as large as it ever was.
import process from "node:process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Share of the time in which the event loop had work. Above it, memory is in use or soon will be. */
const IDLE_UTILIZATION = 0.2;

/** A collection took 125 ms with 50 MiB of objects in use: not for less than this. */
const WORTH_BYTES = 16 * 1024 * 1024;

/**
 * Whether the process is idle and has grown since memory was given back last.
 * @param {{ readonly utilization: number, readonly rssBytes: number, readonly rssAfterLastBytes: number }} now
 */
export function isWorthCollecting({ utilization, rssBytes, rssAfterLastBytes }) {
  return utilization <= IDLE_UTILIZATION && rssBytes >= rssAfterLastBytes + WORTH_BYTES;
}

/** Looks every 10 s, for as long as the process runs; does not keep it running. */
export function giveBackIdleMemory(lookMs = 10_000) {
  const collect = lastResort();
  let before = performance.eventLoopUtilization();
  let rssAfterLastBytes = 0;
  setInterval(() => {
    const { utilization } = performance.eventLoopUtilization(before);
    before = performance.eventLoopUtilization();
    if (!isWorthCollecting({ utilization, rssBytes: process.memoryUsage.rss(), rssAfterLastBytes })) return;
    collect();
    rssAfterLastBytes = process.memoryUsage.rss();
  }, lookMs).unref();
}

/**
 * An ordinary collection keeps the pages: only V8's last resort before it runs out of memory returns them all.
 * @returns {() => void}
 */
function lastResort() {
  setFlagsFromString("--expose-gc");
  /** @type {(options: { readonly type: "major", readonly flavor: "last-resort" }) => void} */
  const collect = runInNewContext("gc");
  return () => collect({ type: "major", flavor: "last-resort" });
}
