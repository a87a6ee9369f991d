import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { built, controllerContext } from "../../../test/support/controller-context.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { FakeInformer } from "../../../test/support/kube/fake-informer.ts";
import { apiError, FakeKube } from "../../../test/support/kube/fake-kube.ts";
import {
  ABSENT,
  persistentVolumeJson,
  present,
  REGION,
  VolumeCloud,
  ZONE,
} from "../../../test/support/provider/volume-builders.ts";
import type { EventInput } from "../../api/event.ts";
import type { PersistentVolume } from "../../api/persistent-volume.ts";
import { PERSISTENT_VOLUMES } from "../../kube/resources/persistent-volume.ts";
import { contractError } from "../../provider/model/errors.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import { type JsonRecord, recordField } from "../../util/json.ts";
import { persistentVolumeLabel } from "./controller.ts";

const WINDOW_MS = 50;
const AFFINITY = {
  required: {
    nodeSelectorTerms: [
      {
        matchExpressions: [
          { key: ZONE, operator: "In", values: ["a"] },
          { key: REGION, operator: "In", values: ["r"] },
        ],
      },
    ],
  },
};

let clock: FakeClock;
let kube: FakeKube;
let cloud: VolumeCloud;
let informer: FakeInformer<PersistentVolume>;
let events: EventInput[];
let metrics: Metrics;
let listeners: Set<() => void>;
let life: AbortController;
let ended: Promise<void>;

beforeEach(() => {
  clock = new FakeClock();
  kube = new FakeKube();
  cloud = new VolumeCloud();
  informer = new FakeInformer();
  events = [];
  metrics = new Metrics();
  listeners = new Set();
});
afterEach(async () => {
  life.abort(new Error("over"));
  await clock.advance(1000);
  await ended;
});

async function start(): Promise<void> {
  life = new AbortController();
  const registered = persistentVolumeLabel.register(
    controllerContext({
      options: {},
      clock,
      metrics,
      persistentVolumes: informer,
      providers: [cloud.provider()],
      client: kube,
      record: (event) => events.push(event),
      readyListeners: listeners,
    }),
  );
  const controller = built(registered);
  ended = controller.run({ stop: life.signal, abort: life.signal });
  await clock.advance(WINDOW_MS);
}

/** As the server stores it; what is written comes to the cache with `sync`. */
function put(name: string, spec: object = {}, metadata: object = {}): void {
  kube.seed(PERSISTENT_VOLUMES, persistentVolumeJson(name, spec, metadata));
  sync(name);
}

function stored(name: string): JsonRecord {
  return kube.stored(PERSISTENT_VOLUMES, { name }) ?? {};
}

function sync(name: string): void {
  informer.set(PERSISTENT_VOLUMES.fromJson(stored(name)));
}

const counted = (result: string) => metrics.value("cloudwire_persistent_volume_labelings_total", { result });
const eventTexts = () =>
  events.map(({ type, reason, regarding, message }) => `${type} ${reason} ${regarding.name}: ${message}`);

describe("persistentVolumeLabelController()", () => {
  test("labels a hundred old ones with one call and one write each, and never again", async () => {
    const names = Array.from({ length: 100 }, (_, index) => `pv-${index}`);
    for (const name of names) put(name);
    await start();
    expect(cloud.calls.map(({ volumes }) => volumes.length)).toEqual([100]);
    expect(kube.writes).toHaveLength(100);
    expect(stored("pv-7")).toMatchObject({
      metadata: { labels: { [ZONE]: "a", [REGION]: "r" } },
      spec: { csi: { volumeHandle: "vol-1" }, nodeAffinity: AFFINITY },
    });
    for (const listener of listeners) listener();
    for (const name of names) sync(name);
    for (const listener of listeners) listener();
    await clock.advance(10 * WINDOW_MS);
    expect([cloud.calls.length, kube.writes.length, events, await counted("labeled")]).toEqual([1, 100, [], 100]);
    life.abort(new Error("over"));
    await ended;
    expect(clock.timers).toBe(0);
  });

  test("writes to the very object that was read", async () => {
    put("pv");
    await start();
    expect(kube.writes).toEqual([
      {
        verb: "patch",
        target: "persistentvolumes/pv",
        patch: {
          kind: "merge",
          body: {
            metadata: { uid: "uid-pv", resourceVersion: "101", labels: { [ZONE]: "a", [REGION]: "r" } },
            spec: { nodeAffinity: AFFINITY },
          },
        },
      },
    ]);
  });

  test("leaves an affinity that is there as it is", async () => {
    const nodeAffinity = {
      required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "disk", operator: "Exists" }] }] },
    };
    put("pv", { nodeAffinity });
    await start();
    expect(recordField(stored("pv"), "spec")["nodeAffinity"]).toEqual(nodeAffinity);
    expect(recordField(recordField(stored("pv"), "metadata"), "labels")).toEqual({ [ZONE]: "a", [REGION]: "r" });
  });

  test("says once that labels and cloud differ, and changes nothing", async () => {
    put("pv", {}, { labels: { [ZONE]: "b" } });
    await start();
    for (const listener of listeners) listener();
    sync("pv");
    await clock.advance(10 * WINDOW_MS);
    expect([kube.writes, eventTexts(), await counted("mismatch")]).toEqual([
      [],
      [`Warning VolumeTopologyMismatch pv: label ${ZONE} is "b", but "a" in the cloud; nothing is changed`],
      1,
    ]);
  });

  test("looks again when an operator has put it right", async () => {
    put("pv", {}, { labels: { [ZONE]: "b" } });
    await start();
    put("pv", {}, { labels: { [ZONE]: "a" } });
    await clock.advance(WINDOW_MS);
    expect(recordField(recordField(stored("pv"), "metadata"), "labels")).toEqual({ [ZONE]: "a", [REGION]: "r" });
  });

  test.each([
    {
      sentence: "of a foreign driver",
      spec: { csi: { driver: "csi.foreign.example.com", volumeHandle: "v" } },
      metadata: {},
    },
    { sentence: "of no cloud", spec: { csi: undefined, nfs: { path: "/x" } }, metadata: {} },
    { sentence: "that is being deleted", spec: {}, metadata: { deletionTimestamp: "2026-11-21T11:00:00Z" } },
  ])("leaves one $sentence alone", async ({ spec, metadata }) => {
    put("pv", spec, metadata);
    await start();
    expect([cloud.calls, kube.writes, events]).toEqual([[], [], []]);
  });

  test("says once that the cloud has no such volume", async () => {
    cloud.answer = () => ABSENT;
    put("pv");
    await start();
    for (const listener of listeners) listener();
    await clock.advance(10 * WINDOW_MS);
    expect([cloud.calls.length, eventTexts(), await counted("absent")]).toEqual([
      1,
      ["Warning VolumeNotLabeled pv: the cloud has no volume vol-1 of CSI driver csi.acme.example.com"],
      1,
    ]);
  });

  test("tries again when the cloud did not answer, and at once when its provider is back", async () => {
    cloud.answer = () => ({ kind: "unknown", error: contractError("CLOUD_CREDENTIALS_INVALID", "no key") });
    put("pv");
    await start();
    await clock.advance(30_000);
    expect([cloud.calls.length, kube.writes, await counted("unknown")]).toEqual([1, [], 1]);
    cloud.answer = () => present();
    for (const listener of listeners) listener();
    await clock.advance(WINDOW_MS);
    expect([cloud.calls.length, kube.writes.length, events]).toEqual([2, 1, []]);
  });

  test("waits for a provider that has never answered", async () => {
    cloud.info = undefined;
    put("pv");
    await start();
    expect([cloud.calls, kube.writes]).toEqual([[], []]);
    cloud = Object.assign(cloud, { info: new VolumeCloud().info });
    for (const listener of listeners) listener();
    await clock.advance(WINDOW_MS);
    expect(kube.writes).toHaveLength(1);
  });

  test("reads again when another client was faster", async () => {
    put("pv");
    let conflicts = 0;
    kube.intercept = () => (conflicts++ === 0 ? apiError("conflict") : undefined);
    await start();
    await clock.advance(10 * WINDOW_MS);
    expect([kube.writes.length, recordField(stored("pv"), "spec")["nodeAffinity"]]).toEqual([2, AFFINITY]);
  });

  test("forgets one that vanished before the write", async () => {
    put("pv");
    kube.intercept = () => apiError("notFound");
    await start();
    await clock.advance(100_000);
    expect([kube.writes.length, events]).toEqual([1, []]);
  });

  test("says what the server does not take, and does not insist", async () => {
    put("pv");
    kube.intercept = () => apiError("invalid");
    await start();
    await clock.advance(100_000);
    expect([kube.writes.length, eventTexts()]).toEqual([1, ["Warning VolumeNotLabeled pv: fake invalid"]]);
  });

  test("takes one that was recreated under its name for another", async () => {
    put("pv");
    await start();
    kube.seed(PERSISTENT_VOLUMES, persistentVolumeJson("pv", {}, { uid: "uid-2" }));
    informer.delete("pv");
    sync("pv");
    await clock.advance(WINDOW_MS);
    expect([cloud.calls.length, kube.writes.length]).toEqual([2, 2]);
  });
});
