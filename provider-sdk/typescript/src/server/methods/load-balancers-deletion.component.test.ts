import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { describe, expect, test } from "vitest";
import { pending } from "../../results/results.ts";
import { invoke, invokeOk } from "../../../test/support/invoke.ts";
import { context } from "../../../test/support/serve-for-test.ts";
import { change, served, service } from "../../../test/support/serve-load-balancers.ts";

const { methods } = CloudProviderDefinition;

describe("DeleteLoadBalancer", () => {
  test("never fails for a class or an annotation", async () => {
    const { client } = await served();
    const outcome = await invoke(client, methods.deleteLoadBalancer, {
      context,
      service,
      change: change(),
      class: "x".repeat(400),
      annotations: { big: "x".repeat(20_000) },
    });
    expect(outcome).toMatchObject({ response: { done: true } });
  });

  test("answers pending work with what is left, and done at the end", async () => {
    let calls = 0;
    const { client } = await served({
      delete: ({ key }) => {
        calls += 1;
        return calls === 1 ? pending(key, { remaining: ["security group sg-1"] }) : undefined;
      },
    });
    const ask = () => invokeOk(client, methods.deleteLoadBalancer, { context, service, change: { requestId: "d-1" } });
    expect(await ask()).toMatchObject({
      done: false,
      remaining: ["security group sg-1"],
      operation: { pollAfter: { seconds: 5n } },
    });
    expect(await ask()).toMatchObject({ done: true, operation: undefined });
    expect(await ask()).toMatchObject({ done: true });
    expect(calls).toBe(2);
  });
});
