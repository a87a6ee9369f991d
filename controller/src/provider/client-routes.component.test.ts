import { BatchDeleteRoutesResponse, BatchEnsureRoutesResponse } from "@cloudwire/proto/cloudprovider/v1/route";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ProviderHarness } from "../../test/support/provider/provider-harness.ts";
import { providerInfo, routeResult, ScriptedProvider } from "../../test/support/provider/scripted-provider.ts";
import type { Sidecar } from "./sidecar.ts";
import type { Route } from "./model/route.ts";

let harness: ProviderHarness;
let provider: ScriptedProvider;
let sidecar: Sidecar;

beforeEach(async () => {
  harness = await ProviderHarness.create();
  provider = await ScriptedProvider.start(harness.socketPath, {
    getProviderInfo: () => providerInfo({ capabilities: { routes: { maxBatchSize: 2 } } }),
  });
  sidecar = harness.connect();
  await harness.ready(sidecar);
});

afterEach(async () => {
  await harness[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

function route(destinationCidr: string, nameHint = ""): Route {
  return {
    id: "",
    nameHint,
    targetProviderId: "acme://1",
    targetNodeName: "n1",
    destinationCidr,
    targetAddresses: [],
    blackhole: false,
  };
}

const [A, B, C] = [route("10.1.0.0/24"), route("10.2.0.0/24"), route("10.3.0.0/24")];
const options = () => ({ signal: harness.signal });

describe("ensureRoutes()", () => {
  test("keeps a route back that the contract does not allow, and answers for each in order", async () => {
    const tooLong = route("10.9.0.0/24", "x".repeat(64));
    const { outcomes } = await sidecar.client.ensureRoutes([A, tooLong, B, C], options());
    expect(outcomes).toMatchObject([
      { kind: "done", route: A },
      {
        kind: "failed",
        error: {
          reason: "FIELD_TOO_LARGE",
          message: expect.stringContaining("route 10.9.0.0/24 cannot be sent: name_hint"),
        },
      },
      { kind: "done", route: B },
      { kind: "done", route: C },
    ]);
    const sent = provider.callsOf("batchEnsureRoutes").map(({ request }) => request);
    expect(sent).toMatchObject([{ routes: [A, B] }, { routes: [C] }]);
  });

  test("answers for the routes of a batch whose answer has too few results, and for no others", async () => {
    provider.script.batchEnsureRoutes = ({ routes }) =>
      BatchEnsureRoutesResponse.fromPartial({ results: routes.length === 2 ? [] : routes.map(routeResult) });
    const { outcomes } = await sidecar.client.ensureRoutes([A, B, C], options());
    expect(outcomes).toMatchObject([
      { kind: "failed", error: { reason: "RESPONSE_INVALID" } },
      { kind: "failed", error: { reason: "RESPONSE_INVALID" } },
      { kind: "done", route: C },
    ]);
  });
});

test("deleteRoutes() answers with the quota of the last call", async () => {
  let used = 10;
  provider.script.batchDeleteRoutes = ({ routes }) => {
    used -= routes.length;
    return BatchDeleteRoutesResponse.fromPartial({ results: routes.map(routeResult), quota: { limit: 100, used } });
  };
  const { outcomes, quota } = await sidecar.client.deleteRoutes([A, B, C], options());
  expect(outcomes.map(({ kind }) => kind)).toEqual(["done", "done", "done"]);
  expect(quota).toEqual({ limit: 100, used: 7 });
});
