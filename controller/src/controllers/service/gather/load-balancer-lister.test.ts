import { beforeEach, describe, expect, test } from "vitest";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { FakeLog } from "../../../../test/support/fake-log.ts";
import { LoadBalancerCloud } from "../../../../test/support/service/load-balancer-cloud.ts";
import { contractError } from "../../../provider/model/errors.ts";
import { LoadBalancerLister } from "./load-balancer-lister.ts";

const UID = "uid-default-web";
const context = { signal: new AbortController().signal, log: new FakeLog() };

let clock: FakeClock;
let lister: LoadBalancerLister;
let cloud: LoadBalancerCloud;

beforeEach(() => {
  clock = new FakeClock();
  lister = new LoadBalancerLister(clock);
  cloud = new LoadBalancerCloud();
  keep(UID);
});

function keep(uid: string): void {
  const service = { namespace: "default", name: "web", uid };
  const kept = { id: `lb-of-${uid}`, service, version: 1, isTampered: false };
  cloud.kept.set(uid, { ...kept, specFingerprint: "s", nodesFingerprint: "n", nodes: [] });
}

/** ID of what is found; "absent", or undefined where nothing can be said. */
async function found(uid: string, readAfterMs?: number, provider = cloud.provider()): Promise<string | undefined> {
  const answer = await lister.find(provider, uid, readAfterMs, context);
  return answer?.kind === "present" ? answer.loadBalancer.id : answer?.kind;
}

const failList = (): void => {
  cloud.fail = (call) => (call === "list" ? contractError("CLOUD_UNAVAILABLE", "503") : undefined);
};

describe("LoadBalancerLister.find()", () => {
  test("lists once for all Services of a provider", async () => {
    expect(await Promise.all([found(UID), found("uid-other"), found(UID, -1)])).toEqual([
      `lb-of-${UID}`,
      "absent",
      `lb-of-${UID}`,
    ]);
    expect(cloud.calls).toEqual(["list"]);
    expect(await found(UID, undefined, cloud.provider("b"))).toBe(`lb-of-${UID}`);
    expect(cloud.calls).toEqual(["list", "list"]);
  });

  test("says nothing from a list that is older than what was done since, or than a minute, and never lists again", async () => {
    await clock.advance(1000);
    await found(UID);
    const startMs = clock.monotonicMs();
    expect([await found(UID, startMs - 1), await found(UID, startMs)]).toEqual([`lb-of-${UID}`, undefined]);
    await clock.advance(60_000);
    expect(await found(UID, startMs - 1)).toBe(`lb-of-${UID}`);
    await clock.advance(1);
    expect([await found(UID, startMs - 1), await found(UID)]).toEqual([undefined, `lb-of-${UID}`]);
    expect(cloud.calls).toEqual(["list"]);
  });

  test("says nothing of what a list lacks that is not complete", async () => {
    cloud.complete = false;
    expect([await found(UID), await found("uid-other")]).toEqual([`lb-of-${UID}`, undefined]);
  });

  test("says nothing when the list failed, and does not ask again", async () => {
    failList();
    expect([await found(UID), await found(UID)]).toEqual([undefined, undefined]);
    expect(cloud.calls).toEqual(["list"]);
    expect(context.log.lines.at(-1)).toMatchObject({ message: expect.stringContaining("reading them one by one") });
  });

  test("asks nothing of a provider that lists nothing", async () => {
    cloud = new LoadBalancerCloud("acme", { list: undefined });
    expect([await found(UID), cloud.calls]).toEqual([undefined, []]);
  });
});

describe("LoadBalancerLister.list()", () => {
  const list = async (maxAgeMs: number, provider = cloud.provider()) => {
    const { items, complete, byUid } = await lister.list(provider, maxAgeMs, context);
    return { ids: items.map(({ id }) => id), complete, uids: [...byUid.keys()] };
  };

  test("shares a list that is new enough, and otherwise requests a new one for all", async () => {
    const provider = cloud.provider();
    await found(UID, undefined, provider);
    keep("uid-other");
    await clock.advance(30_000);
    expect(await list(30_000, provider)).toEqual({ ids: [`lb-of-${UID}`], complete: true, uids: [UID] });
    await clock.advance(1);
    expect((await list(30_000, provider)).uids).toEqual([UID, "uid-other"]);
    expect([await found("uid-other", clock.monotonicMs() - 1, provider), cloud.calls]).toEqual([
      "lb-of-uid-other",
      ["list", "list"],
    ]);
  });

  test("makes one for many who want it at the same time", async () => {
    const provider = cloud.provider();
    await Promise.all([list(1000, provider), list(1000, provider), list(0, provider)]);
    expect(cloud.calls).toEqual(["list"]);
  });

  test("takes none that is not complete, or of another process of the provider", async () => {
    cloud.complete = false;
    const provider = cloud.provider();
    await list(1000, provider);
    cloud.complete = true;
    expect(await list(1000, provider)).toMatchObject({ complete: true });
    await list(1000, { ...provider, info: provider.info && { ...provider.info } });
    expect(cloud.calls).toEqual(["list", "list", "list"]);
  });

  test("fails as the provider does, and keeps the list before, with its age", async () => {
    const provider = cloud.provider();
    await found(UID, undefined, provider);
    await clock.advance(1000);
    failList();
    await expect(list(0, provider)).rejects.toThrow("503");
    expect([await found(UID, -1, provider), await found(UID, 0, provider)]).toEqual([`lb-of-${UID}`, undefined]);
    await expect(list(0, provider)).rejects.toThrow("503");
    cloud.fail = () => undefined;
    expect(await list(1000, provider)).toMatchObject({ ids: [`lb-of-${UID}`] });
  });

  test("lists again after a list that failed", async () => {
    const provider = cloud.provider();
    failList();
    await found(UID, undefined, provider);
    cloud.fail = () => undefined;
    expect(await list(1000, provider)).toMatchObject({ ids: [`lb-of-${UID}`] });
  });
});
