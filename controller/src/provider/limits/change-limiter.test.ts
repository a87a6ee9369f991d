import { beforeEach, describe, expect, test } from "vitest";
import { settle } from "../../../test/support/fake-clock.ts";
import { capabilities, idleProvider, info } from "../../../test/support/provider/provider-builders.ts";
import type { LockScope } from "../model/info.ts";
import type { Provider } from "../model/provider.ts";
import { ChangeLimiter } from "./change-limiter.ts";

let limiter: ChangeLimiter;
/** Changes that run, by name, with how to end them. */
let running: Map<string, () => void>;
let errors: unknown[];

beforeEach(() => {
  limiter = new ChangeLimiter();
  running = new Map();
  errors = [];
});

const providerOf = (lockScope: LockScope, maxConcurrentChanges: number, name = "acme"): Provider =>
  idleProvider(name, info({ capabilities: { loadBalancers: capabilities({ lockScope, maxConcurrentChanges }) } }));

interface Asked {
  readonly lockKey?: string | undefined;
  readonly signal?: AbortSignal;
}

/** Asks for a change that runs until it is ended. */
async function ask(provider: Provider, name: string, { lockKey, signal }: Asked = {}): Promise<void> {
  const context = { key: `default/${name}`, priority: "high", signal: signal ?? new AbortController().signal } as const;
  const change = () =>
    new Promise<void>((resolve) => {
      running.set(name, () => {
        running.delete(name);
        resolve();
      });
    });
  limiter.run(provider, context, lockKey, change).catch((error: unknown) => errors.push(error));
  await settle();
}

async function end(name: string): Promise<void> {
  running.get(name)?.();
  await settle();
}

const names = (): readonly string[] => [...running.keys()];

describe("ChangeLimiter.run()", () => {
  test("lets as many Services change at once as the provider allows", async () => {
    const provider = providerOf("service", 2);
    for (const name of ["a", "b", "c"]) await ask(provider, name);
    expect(names()).toEqual(["a", "b"]);
    await end("a");
    expect(names()).toEqual(["b", "c"]);
  });

  test("lets one at a time change where the scope is the provider, each provider by itself", async () => {
    const provider = providerOf("provider", 5);
    await ask(provider, "a");
    await ask(provider, "b");
    await ask(providerOf("provider", 5, "other"), "c");
    expect(names()).toEqual(["a", "c"]);
    await end("a");
    expect(names()).toEqual(["c", "b"]);
  });

  test("lets different lock keys change at once, and equal ones one after the other", async () => {
    const provider = providerOf("lockKey", 2);
    await ask(provider, "a", { lockKey: "x" });
    await ask(provider, "b", { lockKey: "x" });
    await ask(provider, "c", { lockKey: "y" });
    await ask(provider, "d", { lockKey: "z" });
    expect(names()).toEqual(["a", "c"]);
    await end("c");
    expect(names()).toEqual(["a", "d"]);
    await end("a");
    expect(names()).toEqual(["d", "b"]);
  });

  test.each([{ lockKey: undefined }, { lockKey: "" }])(
    "lets one with lock key $lockKey change alone",
    async (unknown) => {
      const provider = providerOf("lockKey", 3);
      await ask(provider, "a", { lockKey: "x" });
      await ask(provider, "new", unknown);
      await ask(provider, "newer", unknown);
      expect(names()).toEqual(["a"]);
      await end("a");
      expect(names()).toEqual(["new"]);
      await ask(provider, "b", { lockKey: "y" });
      expect(names()).toEqual(["new"]);
      await end("new");
      await end("b");
      await end("newer");
      await end("b");
      expect([names(), errors]).toEqual([[], []]);
    },
  );

  test("gives places back that somebody who gave up had collected", async () => {
    const provider = providerOf("lockKey", 2);
    await ask(provider, "a", { lockKey: "x" });
    const life = new AbortController();
    await ask(provider, "new", { signal: life.signal });
    life.abort(new Error("enough"));
    await settle();
    await ask(provider, "b", { lockKey: "y" });
    expect([names(), errors]).toEqual([["a", "b"], [new Error("enough")]]);
  });

  test("takes a new limit when nobody is inside", async () => {
    await ask(providerOf("service", 1), "a");
    await ask(providerOf("service", 2), "b");
    expect(names()).toEqual(["a"]);
    await end("a");
    await end("b");
    await ask(providerOf("service", 2), "c");
    await ask(providerOf("service", 2), "d");
    expect(names()).toEqual(["c", "d"]);
  });
});
