import { describe, expect, test } from "vitest";
import { CheckSkipped } from "./check.ts";
import { CreatedResources, type CreatedResource, type MadeBy } from "./created-resources.ts";
import { methods } from "../contract/methods.ts";

const { ensureLoadBalancer, deleteLoadBalancer, batchEnsureRoutes, batchDeleteRoutes } = methods;
const context = { cluster: { id: "conformance-1", name: "c" }, scopeId: "s" };
const wire = { headers: {}, trailers: {}, body: Buffer.alloc(0), elapsedMs: 1, status: 200 };

const ensure = (uid: string, cluster = context.cluster): Uint8Array =>
  ensureLoadBalancer.requestType
    .encode(ensureLoadBalancer.requestType.fromPartial({ context: { ...context, cluster }, service: { uid } }))
    .finish();
const routes = (...cidrs: readonly string[]): Uint8Array =>
  batchEnsureRoutes.requestType
    .encode(
      batchEnsureRoutes.requestType.fromPartial({
        context,
        routes: cidrs.map((destinationCidr) => ({ destinationCidr })),
      }),
    )
    .finish();

const resources = (limit?: number) => {
  const reported: (readonly [CreatedResource["kind"], MadeBy])[] = [];
  const made = new CreatedResources("conformance-1", ({ kind }, by) => reported.push([kind, by]), limit);
  const ok = (method: string, request: Uint8Array, bytes: Uint8Array): void =>
    made.ended(made.admit(method, request, "a.one"), { kind: "ok", response: {}, bytes: Buffer.from(bytes), wire });
  return { made, reported, ok };
};

describe("CreatedResources", () => {
  test("reports each resource once, with its check and how much exists at once", () => {
    const { made, reported } = resources();
    made.admit(ensureLoadBalancer.name, ensure("u-1"), "a.one");
    made.admit(ensureLoadBalancer.name, ensure("u-1"), "a.one");
    made.admit(batchEnsureRoutes.name, routes("192.0.2.0/25", "192.0.2.128/25"), "a.two");
    expect(reported).toEqual([
      ["loadBalancer", { check: "a.one", atOnce: 1 }],
      ["route", { check: "a.two", atOnce: 3 }],
      ["route", { check: "a.two", atOnce: 3 }],
    ]);
    expect(made.entries).toHaveLength(3);
  });

  test("keeps of a load balancer what its deletion may need", () => {
    const { made } = resources();
    const { requestType } = ensureLoadBalancer;
    const spec = { class: "acme/small", annotations: { "acme/kind": "small" } };
    const request = requestType.encode(requestType.fromPartial({ context, service: { uid: "u-1" }, spec })).finish();
    made.admit(ensureLoadBalancer.name, request, "a.one");
    expect(made.entries).toEqual([{ ...spec, kind: "loadBalancer", context, service: expect.anything() }]);
  });

  test("refuses a cluster that is not the run's", () => {
    const foreign = ensure("u-1", { id: "production", name: "p" });
    expect(() => resources().made.admit(ensureLoadBalancer.name, foreign, "a.one")).toThrow('for cluster "production"');
  });

  test("never exceeds the limit, and stops counting what is deleted or refused", () => {
    const { made, ok } = resources(2);
    made.admit(ensureLoadBalancer.name, ensure("u-1"), "a.one");
    made.ended(made.admit(ensureLoadBalancer.name, ensure("u-2"), "a.one"), {
      kind: "error",
      error: { code: 3, message: "no", details: [], detailsBytes: 0, infos: [], fields: [] },
      wire,
    });
    made.admit(ensureLoadBalancer.name, ensure("u-3"), "a.one");
    expect(() => made.admit(ensureLoadBalancer.name, ensure("u-4"), "a.one")).toThrow(
      new CheckSkipped("needs 3 resources in the cloud at once, and limits.maxResources is 2", "limit"),
    );
    const { requestType, responseType } = deleteLoadBalancer;
    const gone = requestType.encode(requestType.fromPartial({ context, service: { uid: "u-1" } })).finish();
    ok(deleteLoadBalancer.name, gone, responseType.encode(responseType.fromPartial({ done: false })).finish());
    expect(() => made.admit(ensureLoadBalancer.name, ensure("u-4"), "a.one")).toThrow(CheckSkipped);
    ok(deleteLoadBalancer.name, gone, responseType.encode(responseType.fromPartial({ done: true })).finish());
    expect(made.admit(ensureLoadBalancer.name, ensure("u-4"), "a.one").fresh).toHaveLength(1);
  });

  test("counts of routes those that were made, until they are deleted", () => {
    const { made, ok } = resources(2);
    const [first, second] = ["192.0.2.0/25", "192.0.2.128/25"];
    const { responseType } = batchEnsureRoutes;
    const results = [
      { outcome: { $case: "route", value: { destinationCidr: first } } },
      { outcome: { $case: "error", value: { reason: "CIDR_CONFLICT" } } },
    ] as const;
    ok(
      batchEnsureRoutes.name,
      routes(first, second),
      responseType.encode(responseType.fromPartial({ results: [...results] })).finish(),
    );
    made.admit(ensureLoadBalancer.name, ensure("u-1"), "a.one");
    expect(() => made.admit(ensureLoadBalancer.name, ensure("u-2"), "a.one")).toThrow(CheckSkipped);
    const deleted = batchDeleteRoutes.responseType.fromPartial({ results: [results[0]] });
    ok(batchDeleteRoutes.name, routes(first), batchDeleteRoutes.responseType.encode(deleted).finish());
    expect(made.admit(ensureLoadBalancer.name, ensure("u-2"), "a.one").fresh).toHaveLength(1);
  });
});
