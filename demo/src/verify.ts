import { setTimeout as sleep } from "node:timers/promises";
import { createService, type Demo } from "./demo.ts";
import { listAt, textAt } from "./cluster/json.ts";
import type { Screen } from "./screen.ts";

const CALL_TIMEOUT_MS = 2_000;
const RESPONSE_TIMEOUT_MS = 20_000;
const RETRY_MS = 100;
const SECOND_SERVICE_PORT = 8_081;

/** Checks from outside: every node receives requests, the status page shows all objects, a killed provider works again after its restart. */
export async function verify(demo: Demo, screen: Screen): Promise<void> {
  const { clusterState, kubernetes, serviceUrl, statusPageUrl, provider } = demo;
  const show = (text: string): void => screen.show({ subject: "check", text, tone: "good" });
  const nodes = [...clusterState.nodes.keys()].toSorted();
  await untilEveryNodeResponds(serviceUrl, nodes);
  show(`${serviceUrl} reaches ${nodes.join(", ")}`);

  await untilPageShows(statusPageUrl, [...nodes.map((node) => `node/${node} ok`), "service/default/web ok"]);
  show(`${statusPageUrl} shows all objects as ok`);

  process.kill(provider.pid, "SIGKILL");
  const url = await createService(kubernetes, clusterState, "shop", SECOND_SERVICE_PORT);
  await untilEveryNodeResponds(url, nodes);
  show("the provider was killed and restarted, and a Service created in the meantime got its load balancer");
}

/** Calls until each node has responded once. */
async function untilEveryNodeResponds(url: string, nodes: readonly string[]): Promise<void> {
  const silent = new Set(nodes);
  const endMs = performance.now() + RESPONSE_TIMEOUT_MS;
  while (silent.size > 0) {
    if (performance.now() > endMs) throw new Error(`${url} got no response from ${[...silent].join(", ")}`);
    const response = await call(url);
    silent.delete(response.replace("Hello from ", "").trim());
    if (response === "") await sleep(RETRY_MS);
  }
}

/** Waits until the page exists and its data has these rows. */
async function untilPageShows(url: string, expected: readonly string[]): Promise<void> {
  const endMs = performance.now() + RESPONSE_TIMEOUT_MS;
  for (;;) {
    const isThere = (await call(url)).startsWith("<!doctype html>");
    const rows: unknown = JSON.parse((await call(new URL("../debug/objects", url).href)) || "[]");
    const shown = new Set(listAt(rows).map((row) => `${textAt(row, "object")} ${textAt(row, "state")}`));
    const missing = [...(isThere ? [] : ["a page"]), ...expected.filter((row) => !shown.has(row))];
    if (missing.length === 0) return;
    if (performance.now() > endMs) throw new Error(`${url} never showed ${missing.join(", ")}`);
    await sleep(RETRY_MS);
  }
}

/** The response's text; empty when the call fails. */
async function call(url: string): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(CALL_TIMEOUT_MS) });
    return await response.text();
  } catch {
    return "";
  }
}
