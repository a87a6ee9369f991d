import { expect, test } from "vitest";
import { createSimulatedProvider } from "./provider.ts";

const options = { url: "http://127.0.0.1:1", apiKey: () => "key", callTimeoutMs: 1000 };

test("createSimulatedProvider() declares a name, provider IDs and load balancer classes of the brand's own", () => {
  expect(createSimulatedProvider({ ...options, brand: "west" })).toMatchObject({
    name: "west.simulated.cloudwire.dev",
    idPrefix: "west://",
    loadBalancers: {
      features: { classes: ["west.simulated.cloudwire.dev/standard", "west.simulated.cloudwire.dev/internal"] },
    },
  });
});

test("createSimulatedProvider() declares the cloud's own without a brand", () => {
  expect(createSimulatedProvider(options)).toMatchObject({
    name: "simulated.cloudwire.dev",
    idPrefix: "sim://",
    loadBalancers: { features: { classes: ["simulated.cloudwire.dev/standard", "simulated.cloudwire.dev/internal"] } },
  });
});
