import { afterEach, beforeEach, expect, test } from "vitest";
import { ClientHarness, refs, SERVICE } from "../../test/support/provider/client-harness.ts";
import { contractFailure, instancesFor } from "../../test/support/provider/scripted-provider.ts";

let world: ClientHarness;
beforeEach(async () => {
  world = await ClientHarness.create();
});
afterEach(() => world[Symbol.asyncDispose]());

test("calls are measured by method, code and reason, and what they cost in the cloud", async () => {
  await world.start({
    batchGetInstances: (request) =>
      instancesFor(request, { stats: { cloudCalls: 4, cloudRetries: 1, throttled: true, dataAge: { seconds: 2n } } }),
    deleteLoadBalancer: () => {
      throw contractFailure("DELETION_PROTECTED", "protected");
    },
  });
  await world.sidecar.client.getInstances(refs(1), world.read());
  await world.sidecar.client
    .deleteLoadBalancer({ service: SERVICE, annotations: {} }, world.read())
    .catch(() => undefined);
  const text = await world.harness.metrics.text();
  expect(text).toContain(
    'cloudwire_provider_call_duration_seconds_count{provider="acme",method="BatchGetInstances",code="OK",reason=""} 1',
  );
  expect(text).toContain(
    'cloudwire_provider_call_duration_seconds_count{provider="acme",method="DeleteLoadBalancer",code="FAILED_PRECONDITION",reason="DELETION_PROTECTED"} 1',
  );
  expect(text).toContain('cloudwire_cloud_calls_total{provider="acme",method="BatchGetInstances",kind="read"} 3');
  expect(text).toContain('cloudwire_cloud_calls_total{provider="acme",method="BatchGetInstances",kind="retry"} 1');
  expect(text).toContain('cloudwire_cloud_throttled_total{provider="acme",method="BatchGetInstances"} 1');
  expect(text).toContain('cloudwire_cloud_data_age_seconds_sum{provider="acme",method="BatchGetInstances"} 2');
  expect(text).toContain('cloudwire_provider_calls_in_flight{provider="acme"} 0');
});
