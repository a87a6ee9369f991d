import { describe, expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { apiError } from "../../../test/support/fake-kube.ts";
import { FakeReviews } from "../../../test/support/fake-reviews.ts";
import { Authorizer } from "./reviews.ts";
import { ANONYMOUS, type User } from "./user.ts";

const ALICE: User = { name: "alice", uid: "1", groups: ["dev"], extra: { scope: ["a"] } };

function authorizer(client: FakeReviews | undefined, clock = new FakeClock()): Authorizer {
  return new Authorizer({
    client,
    clock,
    signal: new AbortController().signal,
    alwaysAllowPaths: ["/healthz", "/livez/*"],
    allowedMs: 10_000,
    deniedMs: 1000,
  });
}

const get = (path: string, user: User = ANONYMOUS) => ({ user, verb: "get", path });

describe("Authorizer", () => {
  test.each([
    ["/healthz", true],
    ["/healthz/ping", false],
    ["/livez/ping", true],
    ["/livez", false],
    ["/metrics", false],
  ])("lets everybody read %s: %s, with nobody to ask", async (path, allowed) => {
    expect(await authorizer(undefined).isAllowed(get(path))).toBe(allowed);
  });

  test("lets administrators do everything without asking", async () => {
    const kube = new FakeReviews(() => ({ allowed: false }));
    const admin = { ...ALICE, groups: ["system:masters"] };
    expect(await authorizer(kube).isAllowed({ user: admin, verb: "put", path: "/debug/flags/v" })).toBe(true);
    expect(kube.asked).toEqual([]);
  });

  test("asks the API server about everybody else, with all it knows of the user", async () => {
    const kube = new FakeReviews(() => ({ allowed: true }));
    expect(await authorizer(kube).isAllowed(get("/metrics", ALICE))).toBe(true);
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

  test("keeps a yes longer than a no, and each for its own question", async () => {
    const clock = new FakeClock();
    const kube = new FakeReviews((spec) => ({ allowed: spec["user"] === "alice" }));
    const subject = authorizer(kube, clock);
    const askBoth = async () => [
      await subject.isAllowed(get("/metrics", ALICE)),
      await subject.isAllowed(get("/metrics")),
    ];
    expect(await askBoth()).toEqual([true, false]);
    await clock.advance(1000);
    expect(await askBoth()).toEqual([true, false]);
    expect(kube.asked.map((spec) => spec["user"])).toEqual(["alice", "system:anonymous", "system:anonymous"]);
  });

  test("rejects when the API server cannot be asked", async () => {
    const kube = new FakeReviews(() => apiError("transient"));
    await expect(authorizer(kube).isAllowed(get("/metrics"))).rejects.toThrow("fake transient");
  });
});
