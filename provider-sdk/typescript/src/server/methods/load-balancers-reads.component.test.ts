import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { status as grpc } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import type { ListLoadBalancers } from "../../definition/load-balancers.ts";
import { absent, unreachable } from "../../results/results.ts";
import { invoke, invokeOk } from "../../../test/support/invoke.ts";
import { basics, context, serveForTest } from "../../../test/support/serve-for-test.ts";
import { active, served, service } from "../../../test/support/serve-load-balancers.ts";

const { methods } = CloudProviderDefinition;

describe("reads of load balancers", () => {
  const get = { context, service };
  const listing = (list: ListLoadBalancers) =>
    serveForTest({ ...basics, loadBalancers: { ensure: active, delete: () => undefined, list } });

  test("find one in the list where there is no get", async () => {
    const { client } = await listing(async function* () {
      yield { id: "lb-0", service: { namespace: "default", name: "other", uid: "uid-0" } };
      yield { id: "lb-1", service: { namespace: "default", name: "web", uid: "uid-1" } };
    });
    const { outcome } = await invokeOk(client, methods.getLoadBalancer, get);
    expect(outcome).toMatchObject({ $case: "loadBalancer", value: { id: "lb-1" } });
  });

  test("do not conclude absence from a list with a gap", async () => {
    const { client } = await listing(async function* () {
      yield unreachable("zone-b");
    });
    expect(await invoke(client, methods.getLoadBalancer, get)).toMatchObject({
      code: grpc.UNAVAILABLE,
      reason: "ZONE_UNREACHABLE",
      metadata: { zone: "zone-b" },
    });
  });

  test("do not take nothing for an absence", async () => {
    const { client } = await served({ get: () => JSON.parse("null") });
    expect(await invoke(client, methods.getLoadBalancer, get)).toMatchObject({
      code: grpc.INTERNAL,
      reason: "INVARIANT_BROKEN",
      message: "get() answered nothing; absent() says that it is not there",
    });
  });

  test("do not pass on an absence after a refusal by the cloud", async () => {
    const { client } = await served({
      get: (_lb, { recordCloudCall }) => {
        recordCloudCall({ status: 403 });
        return absent("LOOKUP_MISS");
      },
    });
    expect(await invoke(client, methods.getLoadBalancer, get)).toMatchObject({
      code: grpc.PERMISSION_DENIED,
      reason: "CLOUD_PERMISSION_DENIED",
    });
  });
});
