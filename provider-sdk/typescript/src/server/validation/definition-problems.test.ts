import { describe, expect, test } from "vitest";
import { absent } from "../../results/results.ts";
import type { ProviderDefinition } from "../../definition/provider.ts";
import { createLogger } from "../../telemetry/log.ts";
import { startProvider } from "../start-provider.ts";
import { ProviderStartError } from "../start-error.ts";

const log = createLogger({ level: "error", write: () => undefined, now: () => new Date(0) });

const valid = {
  name: "acme.example.com",
  version: "1.0.0",
  idPrefix: "acme://",
  scope: "acct-1",
  check: () => undefined,
  instances: { get: () => absent("LOOKUP_MISS") },
};

/** A definition as someone without a type checker may write it. */
const untyped = (changes: object): ProviderDefinition => {
  const definition: ProviderDefinition = valid;
  return Object.assign({}, definition, changes);
};

/** Every definition here is refused before anything is bound. */
const problemsOf = async (changes: object): Promise<readonly string[]> => {
  try {
    const endpoint = { kind: "unix", path: "/nowhere/at/all/p.sock" } as const;
    const provider = await startProvider(untyped(changes), { endpoint, log });
    await provider.close();
    return [];
  } catch (error) {
    return error instanceof ProviderStartError ? error.problems : [String(error)];
  }
};

describe("the definition of a provider", () => {
  test("is refused for nothing when it is right: only the directory is missing here", async () => {
    expect(await problemsOf({})).toEqual([expect.stringContaining("the directory /nowhere/at/all does not exist")]);
  });

  test.each<[string, object, string]>([
    ["a group misspelled", { loadbalancers: {} }, "loadbalancers is not known"],
    ["a method misspelled", { instances: { get: () => null, wacth: () => null } }, "instances.wacth is not known"],
    ["a method that is not a function", { instances: { get: "x" } }, "instances.get must be a function"],
    [
      "both get and getMany",
      { instances: { get: () => null, getMany: () => null } },
      "instances needs get or getMany, and not both",
    ],
    ["no method", { instances: {} }, "instances needs get or getMany"],
    ["nothing at all", { instances: undefined }, "nothing is served"],
    ["no check", { check: undefined }, "check must be a function"],
    ["an empty scope", { scope: "" }, "scope must name"],
    ["no prefix", { idPrefix: undefined }, "idPrefix is required"],
    ["an invalid prefix", { idPrefix: "acme:" }, 'idPrefix "acme:" must be a scheme'],
    ["a prefix twice", { idPrefix: undefined, idPrefixes: ["a://", "a://"] }, "holds one prefix twice"],
    [
      "load balancers without delete",
      { loadBalancers: { ensure: () => null, get: () => null } },
      "loadBalancers.delete is required",
    ],
    [
      "load balancers without reads",
      { loadBalancers: { ensure: () => null, delete: () => null } },
      "loadBalancers needs get, or list",
    ],
    ["routes without list", { routes: { ensure: () => null, delete: () => null } }, "routes.list is required"],
    ["volumes without drivers", { volumes: { get: () => null } }, "volumes.features needs csiDrivers or inTreePlugins"],
    ["an invalid name", { name: "Acme" }, 'name "Acme" is not a DNS name'],
    ["no version", { version: "" }, "version is required"],
    [
      "a batch too large",
      { instances: { ...valid.instances, features: { maxBatchSize: 5_000 } } },
      "instances.features.maxBatchSize is 5000; the most is 1000",
    ],
    ["no call at once", { limits: { maxConcurrentCalls: 0 } }, "limits.maxConcurrentCalls is required"],
    [
      "a receive limit too small",
      { limits: { maxReceiveBytes: 1_024 } },
      "limits.maxReceiveBytes is 1024; the least is 4194304",
    ],
    ["call rates that are no list", { limits: { callRates: {} } }, "limits.callRates must be a list"],
    ["a call rate of nothing", { limits: { callRates: [{ cloudCallsPerSecond: 0 }] } }, "must be a number above 0"],
    [
      "half a burst",
      { limits: { callRates: [{ cloudCallsPerSecond: 1, burst: 0.5 }] } },
      "limits.callRates[0].burst must be a whole number",
    ],
    [
      "an unknown quota class",
      { limits: { callRates: [{ classes: ["disks"], cloudCallsPerSecond: 1 }] } },
      "limits.callRates[0].classes names disks; there are instances, loadBalancers, routes, volumes",
    ],
    [
      "a class with two rates",
      { limits: { callRates: [1, 2].map((rate) => ({ classes: ["routes"], cloudCallsPerSecond: rate })) } },
      "limits.callRates gives routes two rates",
    ],
    [
      "two rates for all",
      { limits: { callRates: [{ cloudCallsPerSecond: 1 }, { classes: [], cloudCallsPerSecond: 2 }] } },
      "limits.callRates gives all others two rates",
    ],
    [
      "an annotation without domain",
      { annotations: [{ key: "tier", type: "string", description: "x" }] },
      "annotation prefix",
    ],
    [
      "an enum without values",
      { annotations: [{ key: "a.example.com/t", type: "enum", description: "x" }] },
      "is an enum without allowedValues",
    ],
  ])("is refused for %s", async (_title, changes, problem) => {
    expect(await problemsOf(changes)).toContainEqual(expect.stringContaining(problem));
  });
});
