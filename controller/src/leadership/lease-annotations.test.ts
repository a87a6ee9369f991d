import { beforeEach, describe, expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { FakeKube } from "../../test/support/kube/fake-kube.ts";
import { FakeLog } from "../../test/support/fake-log.ts";
import { LEASES, LeaseLock } from "./lease-lock.ts";
import { ScopeGuard } from "../provider/connection/state.ts";
import { recordField } from "../util/json.ts";
import { ScopeAnnotations, scopeRemedy } from "./lease-annotations.ts";

const LOCK = { namespace: "kube-system", name: "cloud-controller-manager" };
const { signal } = new AbortController();

/** One replica: its candidate for the lease and what it knows of its two providers' scopes. */
class Replica {
  readonly scopes: Readonly<Record<"east" | "west", ScopeGuard>>;
  readonly lock: LeaseLock;

  constructor(kube: FakeKube, clock: FakeClock, identity: string) {
    const [east, west] = [new ScopeGuard(() => "it is accepted"), new ScopeGuard(() => "it is accepted")];
    this.scopes = { east, west };
    const sidecars = Object.entries(this.scopes).map(([name, guard]) => ({
      name,
      get confirmedScope() {
        return guard.confirmed;
      },
      recallScope: (written: string) => guard.recall(written),
    }));
    this.lock = new LeaseLock({
      client: kube,
      lock: LOCK,
      identity,
      timeoutMs: 1000,
      leaseDurationMs: 15_000,
      clock,
      log: new FakeLog(),
      annotations: new ScopeAnnotations(sidecars),
      onSlowPath: () => undefined,
    });
  }

  /** Holds the lease if it can be had. */
  tick(): Promise<boolean> {
    return this.lock.tryAcquireOrRenew(signal);
  }
}

let kube: FakeKube;
let clock: FakeClock;
let leader: Replica;
beforeEach(() => {
  kube = new FakeKube();
  clock = new FakeClock();
  leader = new Replica(kube, clock, "a");
});

const annotations = () => recordField(recordField(kube.stored(LEASES, LOCK) ?? {}, "metadata"), "annotations");

/** As kubectl does it. */
async function annotate(change: Readonly<Record<string, string | null>>): Promise<void> {
  const body = { metadata: { annotations: change } };
  await kube.patch(LEASES, LOCK, { kind: "merge", body }, { signal });
}

describe("ScopeAnnotations on a lease", () => {
  test("are written by the leader as each scope becomes known", async () => {
    leader.scopes.east.see("project-1");
    expect(await leader.tick()).toBe(true);
    expect(annotations()).toEqual({ "scope.cloudwire.dev/east": "project-1" });
    await annotate({ "example.com/other": "stays" });
    leader.scopes.west.see("project-2");
    expect(await leader.tick()).toBe(true);
    expect(annotations()).toEqual({
      "example.com/other": "stays",
      "scope.cloudwire.dev/east": "project-1",
      "scope.cloudwire.dev/west": "project-2",
    });
  });

  test("stop a new process with other credentials from the start, leader or standby", async () => {
    leader.scopes.east.see("project-1");
    await leader.tick();
    const standby = new Replica(kube, clock, "b");
    standby.scopes.east.see("project-2");
    expect(await standby.tick()).toBe(false);
    expect(standby.scopes.east.change).toMatchObject({ confirmed: "project-1", current: "project-2" });
    await leader.lock.release(signal);
    expect(await standby.tick()).toBe(true);
    expect(standby.scopes.east.change).toMatchObject({ confirmed: "project-1", current: "project-2" });
    expect(annotations()).toEqual({ "scope.cloudwire.dev/east": "project-1" });
  });

  test.each([
    ["sets it", "project-2"],
    ["takes the old one away", null],
  ] as const)("let an operator accept the other scope who %s", async (_, value) => {
    leader.scopes.east.see("project-1");
    await leader.tick();
    leader.scopes.east.see("project-2");
    await leader.tick();
    expect(leader.scopes.east.change).toBeDefined();
    await annotate({ "scope.cloudwire.dev/east": value });
    expect(await leader.tick()).toBe(true);
    expect(leader.scopes.east.change).toBeUndefined();
    expect(annotations()).toEqual({ "scope.cloudwire.dev/east": "project-2" });
  });

  test("are written again with a lease that was deleted", async () => {
    leader.scopes.east.see("project-1");
    await leader.tick();
    leader.scopes.east.see("project-2");
    await kube.delete(LEASES, LOCK, { signal });
    expect(await leader.tick()).toBe(true);
    expect(annotations()).toEqual({ "scope.cloudwire.dev/east": "project-1" });
    expect(leader.scopes.east.change).toBeDefined();
  });
});

describe("scopeRemedy()", () => {
  const options = { isElected: true, leaderElectResourceNamespace: "kube-system", leaderElectResourceName: "ccm" };

  test.each([
    ["simcloud/a", "simcloud/a"],
    ["it's; rm -rf /", String.raw`'it'\''s; rm -rf /'`],
  ])("names the command that accepts %j", (scope, word) => {
    expect(scopeRemedy("east", options)(scope)).toBe(
      `it is accepted with: kubectl -n kube-system annotate lease ccm --overwrite scope.cloudwire.dev/east=${word}`,
    );
  });

  test("is a restart where no lease is held", () => {
    expect(scopeRemedy("east", { ...options, isElected: false })("a")).toBe("a restart of the controller confirms it");
  });
});
