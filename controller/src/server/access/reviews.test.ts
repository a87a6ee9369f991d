import { describe, expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { apiError } from "../../../test/support/kube/fake-kube.ts";
import { FakeReviews } from "../../../test/support/kube/fake-reviews.ts";
import { ANONYMOUS, authenticated, authorizer, ExpiringCache, type User } from "./reviews.ts";

const ALICE: User = { name: "alice", uid: "1", groups: ["dev"], extra: { scope: ["a"] } };

function allowing(client: FakeReviews | undefined, clock = new FakeClock()) {
  return authorizer({
    client,
    clock,
    signal: new AbortController().signal,
    alwaysAllowPaths: ["/healthz", "/livez/*"],
    allowedMs: 10_000,
    deniedMs: 1000,
  });
}

const get = (path: string, user: User = ANONYMOUS) => ({ user, verb: "get", path });

describe("authorizer()", () => {
  test.each([
    ["/healthz", true],
    ["/healthz/ping", false],
    ["/livez/ping", true],
    ["/livez", false],
    ["/metrics", false],
  ])("allows anyone to read %s: %s, without an API server", async (path, allowed) => {
    expect(await allowing(undefined)(get(path))).toBe(allowed);
  });

  test("allows administrators everything without a review", async () => {
    const kube = new FakeReviews(() => ({ allowed: false }));
    const admin = { ...ALICE, groups: ["system:masters"] };
    expect(await allowing(kube)({ user: admin, verb: "put", path: "/debug/flags/v" })).toBe(true);
    expect(kube.asked).toEqual([]);
  });

  test("reviews all other users, with all attributes", async () => {
    const kube = new FakeReviews(() => ({ allowed: true }));
    expect(await allowing(kube)(get("/metrics", ALICE))).toBe(true);
    expect(kube.asked).toEqual([
      {
        user: "alice",
        uid: "1",
        groups: ["dev"],
        extra: { scope: ["a"] },
        nonResourceAttributes: { verb: "get", path: "/metrics" },
      },
    ]);
  });

  test("caches allowed longer than denied, separately for each user and path", async () => {
    const clock = new FakeClock();
    const kube = new FakeReviews((spec) => ({ allowed: spec["user"] === "alice" }));
    const isAllowed = allowing(kube, clock);
    const askBoth = async () => [await isAllowed(get("/metrics", ALICE)), await isAllowed(get("/metrics"))];
    expect(await askBoth()).toEqual([true, false]);
    await clock.advance(1000);
    expect(await askBoth()).toEqual([true, false]);
    expect(kube.asked.map((spec) => spec["user"])).toEqual(["alice", "system:anonymous", "system:anonymous"]);
  });

  test("rejects when the API server cannot be asked", async () => {
    const kube = new FakeReviews(() => apiError("transient"));
    await expect(allowing(kube)(get("/metrics"))).rejects.toThrow("fake transient");
  });
});

describe("expiring cache", () => {
  describe("ExpiringCache", () => {
    test("reads once until the value expires", async () => {
      const clock = new FakeClock();
      const cache = new ExpiringCache<number>(10, () => 1000, clock);
      let asked = 0;
      const get = () => cache.get("a", async () => ++asked);
      expect([await get(), await get()]).toEqual([1, 1]);
      await clock.advance(999);
      expect(await get()).toBe(1);
      await clock.advance(1);
      expect(await get()).toBe(2);
    });

    test("expires values by their own lifetime", async () => {
      const clock = new FakeClock();
      const cache = new ExpiringCache<boolean>(10, (yes) => (yes ? 1000 : 10), clock);
      let answer = false;
      const get = () => cache.get("a", async () => answer);
      expect(await get()).toBe(false);
      answer = true;
      await clock.advance(10);
      expect(await get()).toBe(true);
      answer = false;
      await clock.advance(10);
      expect(await get()).toBe(true);
    });

    test("shares one read between concurrent requests", async () => {
      const cache = new ExpiringCache<number>(10, () => 0, new FakeClock());
      const { promise, resolve } = Promise.withResolvers<number>();
      let asked = 0;
      const ask = () => {
        asked++;
        return promise;
      };
      const both = Promise.all([cache.get("a", ask), cache.get("a", ask)]);
      resolve(7);
      expect(await both).toEqual([7, 7]);
      expect(asked).toBe(1);
    });

    test("does not keep a failure", async () => {
      const cache = new ExpiringCache<number>(10, () => 1000, new FakeClock());
      await expect(cache.get("a", () => Promise.reject(new Error("gone")))).rejects.toThrow("gone");
      expect(await cache.get("a", async () => 1)).toBe(1);
    });

    test("evicts the least recently used value when it is full", async () => {
      const cache = new ExpiringCache<string>(2, () => 1000, new FakeClock());
      const asked: string[] = [];
      const get = (key: string) =>
        cache.get(key, async () => {
          asked.push(key);
          return key;
        });
      for (const key of ["a", "b", "a", "c", "a", "b"]) await get(key);
      expect(asked).toEqual(["a", "b", "c", "b"]);
    });
  });
});

describe("user", () => {
  const user = (name: string, ...groups: readonly string[]): User => ({ name, uid: "", groups, extra: {} });

  test.each([
    ["adds the group of all users", user("alice", "dev"), ["dev", "system:authenticated"]],
    ["adds it once", user("alice", "system:authenticated"), ["system:authenticated"]],
    ["leaves the anonymous user unchanged", ANONYMOUS, ["system:unauthenticated"]],
    ["leaves an anonymous user with groups from a proxy unchanged", user("system:anonymous", "dev"), ["dev"]],
    [
      "leaves a user in the unauthenticated group unchanged",
      user("alice", "system:unauthenticated"),
      ["system:unauthenticated"],
    ],
  ])("authenticated() %s", (_sentence, given, groups) => {
    expect(authenticated(given).groups).toEqual(groups);
  });
});
