import { beforeEach, describe, expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { MemoryTraces } from "../../../test/support/memory-traces.ts";
import { idleProvider } from "../../../test/support/provider/provider-builders.ts";
import {
  ABSENT,
  DRIVER,
  PLUGIN,
  VolumeCloud,
  csi,
  persistentVolume,
  present,
  volumesInfo,
} from "../../../test/support/provider/volume-builders.ts";
import type { VolumeSource } from "../../api/persistent-volume.ts";
import { NO_TRACING } from "../../telemetry/tracing.ts";
import { contractError } from "../model/errors.ts";
import type { Provider } from "../model/provider.ts";
import type { VolumeResult } from "../model/volume.ts";
import { BatchingVolumeReader, claimantsOf, consensusOf } from "./volume-reader.ts";

const WINDOW_MS = 20;
let clock: FakeClock;
let cloud: VolumeCloud;
let providers: readonly Provider[];
let life: AbortController;
let reader: BatchingVolumeReader;

beforeEach(() => {
  clock = new FakeClock();
  cloud = new VolumeCloud();
  providers = [cloud.provider()];
  life = new AbortController();
  reader = new BatchingVolumeReader({
    providers: () => providers,
    clock,
    settings: { windowMs: WINDOW_MS, maxDataAgeMs: 500, priority: "low" },
    tracing: NO_TRACING,
  });
});

const get = (name: string, source: VolumeSource, signal = life.signal) =>
  reader.get(persistentVolume(name, { source }), source, signal);

describe("BatchingVolumeReader", () => {
  test("asks about all that come within the window in one call", async () => {
    cloud.answer = ({ name }) => (name === "b" ? ABSENT : present({ id: name }));
    const first = [get("a", csi("vol-a")), get("b", csi("vol-b"))];
    await clock.advance(WINDOW_MS - 1);
    const source: VolumeSource = { kind: "inTree", plugin: "kubernetes.io/cinder", volumeId: "vol-c" };
    const third = get("c", source);
    await clock.advance(1);
    expect(await Promise.all([...first, third])).toEqual([present({ id: "a" }), ABSENT, present({ id: "c" })]);
    expect(cloud.calls).toEqual([
      {
        volumes: [
          {
            name: "a",
            uid: "uid-a",
            source: { kind: "csi", driver: "csi.acme.example.com", volumeHandle: "vol-a" },
          },
          {
            name: "b",
            uid: "uid-b",
            source: { kind: "csi", driver: "csi.acme.example.com", volumeHandle: "vol-b" },
          },
          {
            name: "c",
            uid: "uid-c",
            source: { kind: "inTree", plugin: "kubernetes.io/cinder", volumeId: "vol-c" },
          },
        ],
        options: { signal: expect.any(AbortSignal), maxDataAgeMs: 500, priority: "low" },
      },
    ]);
    expect(clock.timers).toBe(0);
  });

  test("asks for who comes just after all others have given up", async () => {
    cloud.answer = ({ name }) => present({ id: name });
    const impatient = new AbortController();
    const first = get("a", csi("vol-a"), impatient.signal);
    impatient.abort(new Error("the client is gone"));
    await expect(first).rejects.toThrow("the client is gone");
    const second = get("b", csi("vol-b"));
    await clock.advance(WINDOW_MS);
    expect(await second).toEqual(present({ id: "b" }));
  });

  test("makes its call on behalf of all who wait for it, in their traces", async () => {
    const traces = new MemoryTraces();
    const { tracing } = traces;
    const settings = { windowMs: WINDOW_MS, maxDataAgeMs: 500, priority: "low" } as const;
    reader = new BatchingVolumeReader({ providers: () => providers, clock, settings, tracing });
    cloud.beforeCall = () =>
      tracing.child(
        () => ({ name: "call", kind: "client", attributes: {} }),
        () => Promise.resolve(),
      );
    const asked = ["a", "b"].map((name) =>
      tracing.root(
        () => ({ name, kind: "internal", attributes: {} }),
        () => get(name, csi()),
      ),
    );
    await clock.advance(WINDOW_MS);
    await Promise.all(asked);
    expect(traces.spans[0]).toMatchObject({ name: "call", parent: "a", links: ["b"] });
  });

  test("begins a new call for what comes after the window, though the one before is under way", async () => {
    const beforeCall = Promise.withResolvers<void>();
    cloud.beforeCall = () => beforeCall.promise;
    const first = get("a", csi());
    await clock.advance(WINDOW_MS);
    const second = get("b", csi());
    await clock.advance(WINDOW_MS);
    expect(cloud.calls.map(({ volumes }) => volumes.map(({ name }) => name))).toEqual([["a"], ["b"]]);
    beforeCall.resolve();
    expect(await Promise.all([first, second])).toEqual([present(), present()]);
  });

  test("asks all that claim the driver, and believes the one that has the volume", async () => {
    const other = new VolumeCloud();
    cloud.answer = () => ABSENT;
    providers = [cloud.provider(), other.provider("other")];
    const answer = get("a", csi());
    await clock.advance(WINDOW_MS);
    expect([await answer, cloud.calls.length, other.calls.length]).toEqual([present(), 1, 1]);
  });

  test("asks each provider about its own", async () => {
    const other = new VolumeCloud();
    cloud.info = undefined;
    providers = [other.provider("other")];
    const mine = get("a", csi());
    await clock.advance(WINDOW_MS);
    expect([await mine, cloud.calls.length, other.calls.length]).toEqual([present(), 0, 1]);
  });

  test("calls no provider about a volume of no provider, and reports so immediately", async () => {
    const answer = await get("a", csi("v", "csi.foreign.example.com"));
    expect([answer.kind, cloud.calls, clock.timers]).toEqual(["notOwned", [], 0]);
  });

  test("says that it cannot be said whose a volume is before a provider has answered", async () => {
    providers = [];
    expect(await get("a", csi())).toMatchObject({ kind: "undecided", error: { reason: "PROVIDER_STARTING" } });
  });

  test("stops for a caller that waits no longer, and for no other", async () => {
    const impatient = new AbortController();
    const first = get("a", csi(), impatient.signal);
    const second = get("b", csi());
    const reason = new Error("no time");
    impatient.abort(reason);
    await expect(first).rejects.toBe(reason);
    await clock.advance(WINDOW_MS);
    expect(await second).toEqual(present());
    expect(cloud.calls[0]?.options.signal.aborted).toBe(false);
  });

  test("calls no provider when all have given up before the call", async () => {
    const answers = [get("a", csi()), get("b", csi())];
    life.abort(new Error("no time"));
    await Promise.allSettled(answers);
    await clock.advance(WINDOW_MS);
    expect([cloud.calls, clock.timers]).toEqual([[], 0]);
    await expect(get("c", csi())).rejects.toThrow("no time");
    expect(clock.timers).toBe(0);
  });

  test("ends the call when the last has given up", async () => {
    cloud.beforeCall = () => new Promise(() => undefined);
    const [one, other] = [new AbortController(), new AbortController()];
    const answers = [get("a", csi(), one.signal), get("b", csi(), other.signal)];
    await clock.advance(WINDOW_MS);
    const signal = cloud.calls[0]?.options.signal;
    one.abort(new Error("one"));
    await Promise.allSettled(answers.slice(0, 1));
    expect(signal?.aborted).toBe(false);
    other.abort(new Error("other"));
    await Promise.allSettled(answers);
    expect(signal?.reason).toMatchObject({ message: "other" });
  });

  test("knows nothing when the call fails as a whole", async () => {
    const error = contractError("CLOUD_UNAVAILABLE", "gone");
    cloud.beforeCall = () => Promise.reject(error);
    const answer = get("a", csi());
    await clock.advance(WINDOW_MS);
    expect(await answer).toEqual({ kind: "unknown", error });
  });

  test("calls a PersistentVolume that has no name yet unnamed, for the contract wants one", async () => {
    const answer = get("", csi());
    await clock.advance(WINDOW_MS);
    await answer;
    expect(cloud.calls[0]?.volumes[0]?.name).toBe("unnamed");
  });
});

describe("volume owner", () => {
  const acme = idleProvider("acme", volumesInfo());
  const twin = idleProvider("twin", volumesInfo());
  const other = idleProvider("other", volumesInfo({ csiDrivers: ["csi.other.example.com"], inTreePlugins: [] }));
  const silent = idleProvider("silent", undefined);
  const inTree: VolumeSource = { kind: "inTree", plugin: PLUGIN, volumeId: "v" };
  const driverAsPlugin: VolumeSource = { kind: "inTree", plugin: DRIVER, volumeId: "v" };

  describe("claimantsOf()", () => {
    test.each([
      { sentence: "its driver", source: csi(), names: ["acme", "twin"] },
      { sentence: "its plugin", source: inTree, names: ["acme", "twin"] },
      { sentence: "another's driver", source: csi("v", "csi.other.example.com"), names: ["other"] },
      { sentence: "a foreign driver", source: csi("v", "csi.foreign.example.com"), names: [] },
      { sentence: "a plugin of a driver's name", source: driverAsPlugin, names: [] },
    ])("finds $names by $sentence", ({ source, names }) => {
      expect(claimantsOf(source, [silent, acme, other, twin]).map(({ name }) => name)).toEqual(names);
    });
  });

  describe("consensusOf()", () => {
    const unknown: VolumeResult = { kind: "unknown", error: contractError("CLOUD_UNAVAILABLE", "gone") };
    const notOwned: VolumeResult = { kind: "notOwned", message: "no" };

    test.each<{ sentence: string; answers: readonly VolumeResult[]; wanted: VolumeResult }>([
      { sentence: "who has it", answers: [unknown, ABSENT, present()], wanted: present() },
      { sentence: "no provider while one does not know", answers: [ABSENT, unknown, notOwned], wanted: unknown },
      { sentence: "those that have it not", answers: [notOwned, ABSENT], wanted: ABSENT },
    ])("believes $sentence", ({ answers, wanted }) => {
      expect(consensusOf(answers, [acme, twin])).toEqual(wanted);
    });

    test.each([{ answers: [] }, { answers: [notOwned] }])(
      "calls a volume that no provider claims foreign: $answers",
      ({ answers }) => {
        expect(consensusOf(answers, [acme])).toEqual({ kind: "notOwned", message: "no provider serves its driver" });
      },
    );

    test.each<{ answers: readonly VolumeResult[] }>([{ answers: [] }, { answers: [ABSENT] }])(
      "cannot say while a provider has never answered that might have it: $answers",
      ({ answers }) => {
        expect(consensusOf(answers, [acme, silent])).toEqual({
          kind: "undecided",
          error: expect.objectContaining({ message: "silent is not connected" }),
        });
      },
    );

    test("believes who has it though a provider has never answered", () => {
      expect(consensusOf([present()], [acme, silent])).toEqual(present());
    });

    test("cannot say before there is any provider", () => {
      expect(consensusOf([], [])).toEqual({
        kind: "undecided",
        error: expect.objectContaining({ message: "no provider has responded yet", reason: "PROVIDER_STARTING" }),
      });
    });
  });
});
