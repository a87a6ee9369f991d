import { type DevCluster, startDevCluster } from "@cloudwire/devcluster";
import { afterAll, beforeAll, describe } from "vitest";
import { testRuntime } from "../../test/support/kube/runtime-scenarios.ts";
import { NO_TRACING } from "../telemetry/tracing.ts";
import { systemClock } from "../util/clock.ts";
import { HttpKubeClient } from "./http-client.ts";
import { Transport } from "./connection/transport.ts";

describe("the runtime on devcluster", () => {
  const clock = systemClock();
  let cluster: DevCluster;
  let transport: Transport;
  let client: HttpKubeClient;

  beforeAll(async () => {
    cluster = await startDevCluster();
    const credentials = () => Promise.resolve({ headers: {}, tls: {} });
    const access = { server: cluster.url, description: "devcluster", proxyUrl: undefined, credentials };
    transport = new Transport({ access, clock, metrics: undefined, limiter: undefined });
    client = new HttpKubeClient({
      transport,
      clock,
      metrics: undefined,
      userAgent: "cloudwire-test",
      tracing: NO_TRACING,
    });
  });
  afterAll(async () => {
    await transport.close();
    await cluster.close();
  });

  testRuntime(() => client);
});
