import { expect, test } from "vitest";
import type { Settings } from "../../api/admin.ts";
import { ServingLimiter } from "./serving-limiter.ts";

/** Calls by name, in the order in which their turns came or were given up. */
function serve(limits: () => Settings["concurrency"]) {
  const limiter = new ServingLimiter(limits);
  const begun: string[] = [];
  const leaves = new Map<string, (() => void) | undefined>();
  return {
    begun,
    enter: async (
      name: string,
      { account = "a", operation = "volumes.get", signal = new AbortController().signal } = {},
    ) => {
      const leave = await limiter.enter(account, operation, signal);
      leaves.set(name, leave);
      begun.push(leave ? name : `${name} gave up`);
    },
    end: async (name: string) => {
      leaves.get(name)?.();
      await settled();
    },
  };
}

/** Promises that can be resolved are. */
const settled = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("ServingLimiter.enter() lets so many in at once, and the others in the order in which they came", async () => {
  const { begun, enter, end } = serve(() => ({ "volumes.*": 2 }));
  const all = ["one", "two", "three", "four"].map((name) => enter(name));
  await settled();
  expect(begun).toEqual(["one", "two"]);
  await end("two");
  expect(begun).toEqual(["one", "two", "three"]);
  await end("one");
  await Promise.all(all);
  expect(begun).toEqual(["one", "two", "three", "four"]);
});

test("ServingLimiter.enter() counts each account and the best pattern alone, and nothing without a limit", async () => {
  const { begun, enter } = serve(() => ({ "volumes.*": 1, "volumes.list": 1 }));
  void enter("get");
  void enter("waits");
  void enter("of another account", { account: "b" });
  void enter("list", { operation: "volumes.list" });
  void enter("first route", { operation: "routes.list" });
  void enter("second route", { operation: "routes.list" });
  await settled();
  expect(new Set(begun)).toEqual(new Set(["get", "of another account", "list", "first route", "second route"]));
});

test("ServingLimiter.enter() passes over who has gone", async () => {
  const { begun, enter, end } = serve(() => ({ "*": 1 }));
  const gone = new AbortController();
  void enter("one");
  void enter("two", { signal: gone.signal });
  void enter("three");
  gone.abort();
  await settled();
  await end("one");
  void enter("four", { signal: gone.signal });
  await settled();
  expect(begun).toEqual(["one", "two gave up", "three", "four gave up"]);
});

test("ServingLimiter.enter() takes a new limit with the next call that ends", async () => {
  let limits: Settings["concurrency"] = { "*": 1 };
  const { begun, enter, end } = serve(() => limits);
  for (const name of ["one", "two", "three"]) void enter(name);
  limits = {};
  await settled();
  expect(begun).toEqual(["one"]);
  await end("one");
  expect(begun).toEqual(["one", "two", "three"]);
});
