import { ListInstancesResponse } from "@cloudwire/proto/cloudprovider/v1/instance";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ClientHarness } from "../../test/support/provider/client-harness.ts";
import { contractFailure } from "../../test/support/provider/scripted-provider.ts";

let world: ClientHarness;
beforeEach(async () => {
  world = await ClientHarness.create();
});
afterEach(() => world[Symbol.asyncDispose]());

describe("listInstances()", () => {
  const page = (token: string, nextPageToken: string, parts = {}): ListInstancesResponse =>
    ListInstancesResponse.fromPartial({
      instances: [{ providerId: `acme://${token === "" ? "first" : token}`, name: "n" }],
      nextPageToken,
      scopeId: "project-1",
      complete: nextPageToken === "",
      ...parts,
    });

  test("walks all pages and restarts once when a token is refused", async () => {
    let refused = false;
    await world.start({
      listInstances: ({ pageToken }) => {
        if (pageToken === "b" && !refused) {
          refused = true;
          throw contractFailure("PAGE_TOKEN_INVALID", "expired");
        }
        return page(pageToken, { "": "a", a: "b" }[pageToken] ?? "");
      },
    });
    const { items, complete } = await world.sidecar.client.listInstances({ signal: world.harness.signal });
    expect(items.map(({ providerId }) => providerId)).toEqual(["acme://first", "acme://a", "acme://b"]);
    expect(complete).toBe(true);
    expect(world.provider.callsOf("listInstances")).toHaveLength(6);
  });

  test("is not complete when a zone could not be read on any page", async () => {
    await world.start({
      listInstances: ({ pageToken }) =>
        pageToken === "" ? page("", "a", { unreachable: ["zone-b"] }) : page("a", "", { complete: true }),
    });
    expect(await world.sidecar.client.listInstances({ signal: world.harness.signal })).toMatchObject({
      complete: false,
      unreachable: ["zone-b"],
    });
  });

  test("is not complete when an item of any page violates the contract (case A-5)", async () => {
    await world.start({
      listInstances: ({ pageToken }) => (pageToken === "" ? page("", "a", { instances: [{}] }) : page("a", "")),
    });
    const listing = await world.sidecar.client.listInstances({ signal: world.harness.signal });
    expect(listing).toMatchObject({ complete: false, items: [{ providerId: "acme://a" }] });
  });

  test("fails when pages do not end (case A-2)", async () => {
    let pages = 0;
    await world.start({ listInstances: ({ pageToken }) => page(pageToken, String(++pages)) });
    await expect(world.sidecar.client.listInstances({ signal: world.harness.signal })).rejects.toMatchObject({
      reason: "RESPONSE_INVALID",
      message: expect.stringContaining("has more than 1000 pages"),
    });
    expect(pages).toBe(1000);
  });

  test("fails when pages go in a circle", async () => {
    await world.start({ listInstances: ({ pageToken }) => page(pageToken, "a") });
    await expect(world.sidecar.client.listInstances({ signal: world.harness.signal })).rejects.toMatchObject({
      reason: "RESPONSE_INVALID",
      message: expect.stringContaining("a page token repeats"),
    });
  });
});
