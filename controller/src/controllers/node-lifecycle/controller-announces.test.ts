import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { apiError } from "../../../test/support/kube/fake-kube.ts";
import { LifecycleHarness } from "../../../test/support/node/lifecycle-harness.ts";

const TAINTED = { taints: [{ key: "ToBeDeletedByClusterAutoscaler", value: "1", effect: "NoSchedule" }] };

let world: LifecycleHarness;
/** Notes that were asked for. */
let asked: number;
beforeEach(() => {
  world = new LifecycleHarness();
  asked = 0;
});
afterEach(() => world.stop());

/** The process holds a Lease, whose writes the test makes. */
function delay(isActive = true): void {
  if (!isActive) world.options.controllerMode.set("cloud-node-lifecycle-controller", "observe");
  world.delay(() => void (asked += 1));
}

/** One write of the Lease that is answered; what it says. */
function write(): string {
  const text = world.note() ?? "";
  world.recorded(text);
  return text;
}

function lose(names: readonly string[], spec = {}): void {
  for (const name of names) {
    world.node(name, { spec });
    world.says.set(name, "absent");
  }
}

function live(count: number): void {
  for (const name of world.names(count, "alive")) {
    world.node(name);
    world.ready(name);
  }
}

const secondsAgo = (text: string) => JSON.parse(text).secondsAgo;

describe("cloud-node-lifecycle that holds a Lease", () => {
  test("deletes nothing before it is noted there, and notes all that go at once together", async () => {
    delay();
    lose(["a", "b", "c"]);
    world.start();
    await world.clock.advance(60_000);
    expect([world.deletions, world.events, asked]).toEqual([[], [], 3]);
    expect(secondsAgo(write())).toEqual({ 0: 3 });
    await world.clock.advance(0);
    expect(world.deletions.toSorted()).toEqual(["a", "b", "c"]);
    // The same three, not six.
    expect(secondsAgo(write())).toEqual({ 0: 3 });
    await world.clock.advance(600_000);
    expect(world.note()).toBeUndefined();
  });

  test("evaluates again after the wait, and takes back what does not go", async () => {
    delay();
    lose(["a"]);
    world.start();
    await world.clock.advance(60_000);
    world.untrustedReason = "scope changed";
    write();
    await world.clock.advance(100);
    expect([world.deletions, world.note()]).toEqual([[], undefined]);
  });

  test("takes back what the API server refuses to delete", async () => {
    delay();
    lose(["a"]);
    world.kube.intercept = ({ verb }) => (verb === "delete" ? apiError("forbidden") : undefined);
    world.start();
    await world.clock.advance(60_000);
    write();
    await world.clock.advance(100);
    expect(world.events.at(-1)).toContain("DeletingNodeFailed");
    expect(world.note()).toBeUndefined();
  });

  test.each([
    { it: "was carried out", isGone: true, want: { 0: 1 } },
    { it: "was not", isGone: false, want: undefined },
  ])("counts what was not answered, once it shows that it $it", async ({ isGone, want }) => {
    delay();
    lose(["a"]);
    world.kube.intercept = ({ verb }) => (verb === "delete" ? apiError("transient") : undefined);
    world.start();
    await world.clock.advance(60_000);
    write();
    await world.clock.advance(0);
    if (isGone) world.nodes.delete("a");
    else world.ready("a");
    await world.clock.advance(0);
    const text = world.note();
    expect(text === undefined ? undefined : secondsAgo(text)).toEqual(want);
  });

  test("has what was not answered on the Lease for as long as nothing shows, however often it is tried, for the client that leads next", async () => {
    delay();
    lose(["a"]);
    world.kube.intercept = ({ verb }) => (verb === "delete" ? apiError("transient") : undefined);
    world.start();
    for (let second = 0; second < 300; second++) {
      await world.clock.advance(1000);
      write();
    }
    expect(world.deletions.length).toBeGreaterThan(1);
    await world.clock.advance(100);
    expect(Object.values(secondsAgo(write()))).toEqual([1]);
    world.ready("a");
    await world.clock.advance(0);
    expect(world.note()).toBeUndefined();
  });

  test("counts what was cut off, for no one here sees what came of it", async () => {
    delay();
    lose(["a"]);
    world.kube.intercept = ({ verb }) => (verb === "delete" ? apiError("aborted") : undefined);
    world.start();
    await world.clock.advance(60_000);
    write();
    await world.clock.advance(0);
    expect(secondsAgo(write())).toEqual({ 0: 1 });
  });

  test("does not wait with what does not count", async () => {
    delay();
    lose(["a"], TAINTED);
    world.start();
    await world.clock.advance(60_000);
    expect([world.deletions, asked, world.note()]).toEqual([["a"], 0, undefined]);
  });

  test("notes nothing of Nodes that are only planned to go", async () => {
    delay(false);
    lose(["a"]);
    world.start();
    await world.clock.advance(60_000);
    expect([world.deletions, asked]).toEqual([["a"], 0]);
  });

  test("gives up a wait as it ends, and what it waited for", async () => {
    delay();
    lose(["a"]);
    world.start();
    await world.clock.advance(60_000);
    await world.stop();
    expect([world.deletions, asked, world.note()]).toEqual([[], 1, undefined]);
  });
});

describe("cloud-node-lifecycle after another", () => {
  test("counts what the other has noted, and blocks what the other would have blocked", async () => {
    world.read(JSON.stringify({ time: "", secondsAgo: { 100: 3 } }));
    lose(["d"]);
    live(16);
    world.start();
    await world.clock.advance(300_000);
    expect(world.deletions).toEqual([]);
    expect(world.events).toEqual([
      expect.stringMatching(
        /^d: Warning TooManyNodeDeletions .*4 of 20 Nodes as absent, and at most 3 are deleted within 10 minutes/,
      ),
    ]);
    await world.clock.advance(230_000);
    expect(world.deletions).toEqual(["d"]);
  });

  test("blocks all for ten minutes when it cannot read what the other has noted, and says so", async () => {
    world.read("3 Nodes");
    lose(["d"]);
    live(16);
    world.start();
    await world.clock.advance(590_000);
    expect(world.deletions).toEqual([]);
    expect(world.events).toEqual([expect.stringContaining("the annotation of the Lease could not be read")]);
    expect(world.log.messages("error")).toHaveLength(2);
    await world.clock.advance(40_000);
    expect(world.deletions).toEqual(["d"]);
  });
});
