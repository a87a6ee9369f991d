import { setTimeout as sleep } from "node:timers/promises";
import { createService, type Demo } from "./demo.ts";
import { listAt, textAt } from "./cluster/json.ts";
import type { Screen } from "./screen.ts";

const CALL_TIMEOUT_MS = 2_000;
const ANSWER_TIMEOUT_MS = 20_000;
const RETRY_MS = 100;
const SECOND_SERVICE_PORT = 8_081;

/** Checks from outside that "ready" is true: requests come out at every node, the page shows them, a provider that is killed comes back to work. */
export async function verify(demo: Demo, screen: Screen): Promise<void> {
  const { world, kubernetes, serviceUrl, statusPageUrl, provider } = demo;
  const tell = (text: string): void => screen.tell({ subject: "check", text, tone: "good" });
  const nodes = [...world.nodes.keys()].toSorted();
  await untilEveryNodeAnswers(serviceUrl, nodes);
  tell(`${serviceUrl} is answered by ${nodes.join(", ")}`);

  await untilPageShows(statusPageUrl, [...nodes.map((node) => `node/${node} ok`), "service/default/web ok"]);
  tell(`${statusPageUrl} shows that all of it is well`);

  process.kill(provider.pid, "SIGKILL");
  const url = await createService(kubernetes, world, "shop", SECOND_SERVICE_PORT);
  await untilEveryNodeAnswers(url, nodes);
  tell("the provider was killed, and a Service made meanwhile got its load balancer");
}

/** Calls until each node has answered once. */
async function untilEveryNodeAnswers(url: string, nodes: readonly string[]): Promise<void> {
  const silent = new Set(nodes);
  const endMs = performance.now() + ANSWER_TIMEOUT_MS;
  while (silent.size > 0) {
    if (performance.now() > endMs) throw new Error(`${url} was never answered by ${[...silent].join(", ")}`);
    const answer = await call(url);
    silent.delete(answer.replace("Hello from ", "").trim());
    if (answer === "") await sleep(RETRY_MS);
  }
}

/** The page is there, and what it is made of has these rows. */
async function untilPageShows(url: string, wanted: readonly string[]): Promise<void> {
  const endMs = performance.now() + ANSWER_TIMEOUT_MS;
  for (;;) {
    const isThere = (await call(url)).startsWith("<!doctype html>");
    const rows: unknown = JSON.parse((await call(new URL("../debug/objects", url).href)) || "[]");
    const shown = new Set(listAt(rows).map((row) => `${textAt(row, "object")} ${textAt(row, "state")}`));
    const missing = [...(isThere ? [] : ["a page"]), ...wanted.filter((row) => !shown.has(row))];
    if (missing.length === 0) return;
    if (performance.now() > endMs) throw new Error(`${url} never had ${missing.join(", ")}`);
    await sleep(RETRY_MS);
  }
}

/** The answer's text; empty when there is none. */
async function call(url: string): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(CALL_TIMEOUT_MS) });
    return await response.text();
  } catch {
    return "";
  }
}
