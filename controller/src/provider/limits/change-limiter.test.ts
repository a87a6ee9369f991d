import { beforeEach, describe, expect, test } from "vitest";
import { settle } from "../../../test/support/fake-clock.ts";
import { capabilities, idleProvider, info } from "../../../test/support/provider/provider-builders.ts";
import type { ChangeOptions, LoadBalancerRef, ProviderClient } from "../model/client.ts";
import type { LoadBalancerCapabilities, LockScope } from "../model/info.ts";
import type { LoadBalancerDeletion } from "../model/load-balancer.ts";
import { limitChanges } from "./change-limiter.ts";

let capabilitiesNow: LoadBalancerCapabilities;
/** Changes that run, by name, with how to end them. */
let running: Map<string, () => void>;
let errors: unknown[];

beforeEach(() => {
  running = new Map();
  errors = [];
});

const capabilitiesOf = (lockScope: LockScope, maxConcurrentChanges: number) =>
  capabilities({ lockScope, maxConcurrentChanges });

/** A client whose changes run until they are ended. */
function limitedClient(lockScope: LockScope, maxConcurrentChanges: number) {
  capabilitiesNow = capabilitiesOf(lockScope, maxConcurrentChanges);
  const { client } = idleProvider("acme", info({}));
  const deleteLoadBalancer = ({ service }: LoadBalancerRef): Promise<LoadBalancerDeletion> =>
    new Promise((resolve) => {
      running.set(service.name, () => {
        running.delete(service.name);
        resolve({ done: true, operation: undefined, remaining: [], diagnostics: [], plannedChanges: [] });
      });
    });
  return limitChanges({ ...client, deleteLoadBalancer }, () => capabilitiesNow);
}

/** Requests a change that runs until it is ended. */
async function change(
  client: ProviderClient,
  name: string,
  { signal = new AbortController().signal, ...options }: Partial<ChangeOptions> = {},
): Promise<void> {
  const ref = { service: { namespace: "default", name, uid: name }, annotations: {} };
  client.deleteLoadBalancer(ref, { signal, ...options }).catch((error: unknown) => errors.push(error));
  await settle();
}

async function end(name: string): Promise<void> {
  running.get(name)?.();
  await settle();
}

const names = (): readonly string[] => [...running.keys()];

describe("limitChanges()", () => {
  test("runs as many changes of Services concurrently as the provider allows", async () => {
    const client = limitedClient("service", 2);
    for (const name of ["a", "b", "c"]) await change(client, name);
    expect(names()).toEqual(["a", "b"]);
    await end("a");
    expect(names()).toEqual(["b", "c"]);
  });

  test("runs one change of each provider at a time where the scope is the provider", async () => {
    const client = limitedClient("provider", 5);
    await change(client, "a");
    await change(client, "b");
    await change(limitedClient("provider", 5), "c");
    expect(names()).toEqual(["a", "c"]);
    await end("a");
    expect(names()).toEqual(["c", "b"]);
  });

  test("runs changes with different lock keys concurrently, and with equal ones in sequence", async () => {
    const client = limitedClient("lockKey", 2);
    await change(client, "a", { lockKey: "x" });
    await change(client, "b", { lockKey: "x" });
    await change(client, "c", { lockKey: "y" });
    await change(client, "d", { lockKey: "z" });
    expect(names()).toEqual(["a", "c"]);
    await end("c");
    expect(names()).toEqual(["a", "d"]);
    await end("a");
    expect(names()).toEqual(["d", "b"]);
  });

  test.each([{ lockKey: undefined }, { lockKey: "" }])(
    "runs a change with lock key $lockKey alone",
    async (unknown) => {
      const client = limitedClient("lockKey", 3);
      await change(client, "a", { lockKey: "x" });
      await change(client, "new", unknown);
      await change(client, "newer", unknown);
      expect(names()).toEqual(["a"]);
      await end("a");
      expect(names()).toEqual(["new"]);
      await change(client, "b", { lockKey: "y" });
      expect(names()).toEqual(["new"]);
      await end("new");
      await end("b");
      await end("newer");
      await end("b");
      expect([names(), errors]).toEqual([[], []]);
    },
  );

  test("releases the places that an aborted change had collected", async () => {
    const client = limitedClient("lockKey", 2);
    await change(client, "a", { lockKey: "x" });
    const life = new AbortController();
    await change(client, "new", { signal: life.signal });
    life.abort(new Error("enough"));
    await settle();
    await change(client, "b", { lockKey: "y" });
    expect([names(), errors]).toEqual([["a", "b"], [new Error("enough")]]);
  });

  test("does not send a change that is refused when its turn has come", async () => {
    const client = limitedClient("service", 1);
    await change(client, "a");
    await change(client, "b", {
      refuse: () => {
        throw new Error("superseded");
      },
    });
    await end("a");
    expect([names(), errors]).toEqual([[], [new Error("superseded")]]);
  });

  test("applies a new limit once no change runs", async () => {
    const client = limitedClient("service", 1);
    await change(client, "a");
    capabilitiesNow = capabilitiesOf("service", 2);
    await change(client, "b");
    expect(names()).toEqual(["a"]);
    await end("a");
    await end("b");
    await change(client, "c");
    await change(client, "d");
    expect(names()).toEqual(["c", "d"]);
  });
});
