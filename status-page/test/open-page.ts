import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { createCluster, type Cluster, type ClusterSize } from "./clusters.ts";
import { type FixtureServer, startFixtureServer } from "./fixture-server.ts";

/** A page in a browser of its own, before a cluster that the test may change. */
export interface OpenPage extends AsyncDisposable {
  readonly page: Page;
  readonly cluster: Cluster;
  readonly server: FixtureServer;
  /** What must not happen: errors of scripts, whatever the browser refused for the sake of CSP, requests to elsewhere. */
  readonly faults: readonly string[];
  readonly go: (hash: string) => Promise<void>;
}

interface OpenOptions extends BrowserContextOptions {
  readonly size?: ClusterSize;
  /** What a proxy in front of the controller puts before its paths. */
  readonly prefix?: string;
}

export async function openPage(
  browser: Browser,
  { size = { nodes: 60, services: 20 }, prefix = "", ...options }: OpenOptions = {},
  prepare: (cluster: Cluster) => void = () => undefined,
): Promise<OpenPage> {
  const cluster = createCluster(size);
  prepare(cluster);
  const server = await startFixtureServer(cluster, prefix);
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("console", (message) => {
    // The browser's own line about a connection that was refused: tests refuse some.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      faults.push(message.text());
  });
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== new URL(server.url).origin) faults.push(`request to ${request.url()}`);
  });
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => {
      console.error(`CSP: ${violatedDirective} ${blockedURI}`);
    });
  });
  return {
    page,
    cluster,
    server,
    faults,
    go: async (hash) => {
      await page.goto(`${server.url}${hash}`);
      await page.getByText("Live", { exact: true }).waitFor();
    },
    [Symbol.asyncDispose]: async () => {
      await context.close();
      await server.close();
    },
  };
}
