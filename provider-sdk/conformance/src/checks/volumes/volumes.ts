import { AbsenceBasis } from "@cloudwire/proto/cloudprovider/v1/common";
import type { Volume, VolumeResult } from "@cloudwire/proto/cloudprovider/v1/volume";
import type { Check, CheckContext } from "../../suite/check.ts";
import { expectNone, expectOk, fail, show } from "../../suite/expect.ts";
import type { Exchange } from "../../endpoint/exchange.ts";
import { durationMs } from "../../contract/duration.ts";
import { ruleProblems } from "../../contract/field-rules.ts";
import { methods } from "../../contract/methods.ts";
import { labelProblems } from "../instances/labels.ts";

const base = { profile: "volumes", timeoutMs: 40_000 } as const;
const withVolume = { ...base, level: "R", fixtures: ["volume"] } as const;

/** Where a volume is; a driver of null is one that does not exist. */
interface Ref {
  readonly driver?: string | null;
  readonly handle?: string;
}

const foreign: Ref = { driver: null, handle: "conformance-volume" };

const ownDriver = ({ info, fixtures }: CheckContext): string =>
  fixtures.volume?.driver ?? info.capabilities?.volumes?.csiDrivers[0] ?? "";

const sourceOf = (context: CheckContext, { driver, handle = "" }: Ref) => ({
  $case: "csi" as const,
  value: {
    driver: driver === null ? "csi.conformance.example.com" : (driver ?? ownDriver(context)),
    volumeHandle: handle,
  },
});

const ask = async (context: CheckContext, refs: readonly Ref[], more: object = {}) => {
  const volumes = refs.map((ref, index) => ({ name: `conformance-${index}`, source: sourceOf(context, ref) }));
  const request = { context: context.callContext, volumes, ...more };
  const called = await context.caller.call(methods.batchGetVolumes, request);
  const { response } = expectOk(called, "the batch is refused");
  if (response.results.length !== refs.length)
    fail({
      message: "results do not align with the request",
      expected: `${refs.length} results`,
      got: String(response.results.length),
      exchange: called.exchange,
    });
  return { results: response.results, response, exchange: called.exchange };
};

const fixture = ({ fixtures }: CheckContext): Ref => ({ handle: fixtures.volume?.handle ?? "" });

const found = (result: VolumeResult | undefined, exchange: Exchange): Volume =>
  result?.outcome?.$case === "volume"
    ? result.outcome.value
    : fail({ message: "the volume is not found", expected: "volume", got: show(result?.outcome), exchange });

const fixtureFound = async (context: CheckContext): Promise<{ volume: Volume; exchange: Exchange }> => {
  const { results, exchange } = await ask(context, [fixture(context)]);
  return { volume: found(results[0], exchange), exchange };
};

const finding: readonly Check[] = [
  {
    ...withVolume,
    id: "vol.get.found",
    title: "the volume is found by its handle, each field within its limits",
    rules: ["VOL-1", "LIM-1"],
    why: "Without zones a pod is put where its volume cannot come.",
    run: async (context) => {
      const { volume, exchange } = await fixtureFound(context);
      expectNone(ruleProblems("cloudprovider.v1.Volume", volume), "the volume is not whole", { exchange });
    },
  },
  {
    ...withVolume,
    id: "vol.get.expected",
    title: "zones and region are those of the configuration",
    rules: ["VOL-1", "LST-5"],
    why: "They decide on which nodes pods with this volume run.",
    requires: ["vol.get.found"],
    run: async (context) => {
      const { zones, region } = context.fixtures.volume ?? {};
      const { volume, exchange } = await fixtureFound(context);
      const expected = { zones: (zones ?? volume.zones).toSorted(), region: region ?? volume.region };
      const got = { zones: volume.zones.toSorted(), region: volume.region };
      if (show(got) !== show(expected))
        fail({ message: "they are others", expected: show(expected), got: show(got), exchange });
    },
  },
  {
    ...withVolume,
    id: "vol.zones.sorted",
    title: "zones are sorted, and each is there once",
    rules: ["VOL-1", "LST-5"],
    why: "Another order is another label, and a label of a PersistentVolume cannot be changed by everybody.",
    requires: ["vol.get.found"],
    run: async (context) => {
      const { volume, exchange } = await fixtureFound(context);
      const expected = [...new Set(volume.zones)].toSorted();
      if (show(volume.zones) !== show(expected))
        fail({ message: "zones are in another order", expected: show(expected), got: show(volume.zones), exchange });
    },
  },
  {
    ...withVolume,
    id: "vol.labels.valid",
    title: "labels are valid",
    rules: ["VOL-1", "LIM-1"],
    why: "One label that Kubernetes refuses, and the PersistentVolume is refused with it.",
    requires: ["vol.get.found"],
    run: async (context) => {
      const { volume, exchange } = await fixtureFound(context);
      expectNone(labelProblems(volume.labels), "labels are wrong", { exchange });
    },
  },
  {
    ...withVolume,
    id: "vol.age.honored",
    title: "max_data_age of 0 brings data that is no older than a second",
    rules: ["BAT-4", "VOL-1"],
    why: "A volume that has just been made would be said not to exist.",
    requires: ["vol.get.found"],
    run: async (context) => {
      const startMs = Date.now();
      const { results, response, exchange } = await ask(context, [fixture(context)], { maxDataAge: {} });
      const readMs = results[0]?.readTime?.getTime();
      const ageMs = readMs === undefined ? (durationMs(response.stats?.dataAge) ?? 0) : startMs - readMs;
      if (ageMs > 1_000) fail({ message: "the data is old", expected: "at most 1 s", got: `${ageMs} ms`, exchange });
    },
  },
];

const missing: readonly Check[] = [
  {
    ...base,
    level: "R",
    fixtures: ["absentVolumeHandle"],
    id: "vol.absent.never",
    title: "a volume that never existed is absent, with a basis and the time of reading",
    rules: ["VOL-1", "ABS-1", "ABS-7"],
    why: "Without a basis the controller takes it for unknown and asks for ever.",
    run: async (context) => {
      const handle = context.fixtures.absentVolumeHandle ?? "";
      const { results, exchange } = await ask(context, [{ handle }]);
      const outcome = results[0]?.outcome;
      const absence = outcome?.$case === "absent" ? outcome.value : undefined;
      if (absence === undefined || absence.basis === AbsenceBasis.UNSPECIFIED || absence.observeTime === undefined)
        fail({ message: `${handle} is not absent`, expected: "basis and observe_time", got: show(outcome), exchange });
    },
  },
  {
    ...base,
    level: "R",
    fixtures: ["malformedVolumeHandle"],
    id: "vol.absent.malformed",
    title: "a handle that cannot be one of the cloud's is unknown, never absent",
    rules: ["VOL-1", "ABS-3"],
    why: "A handle that cannot be read proves nothing about any volume.",
    run: async (context) => {
      const handle = context.fixtures.malformedVolumeHandle ?? "";
      const { results, exchange } = await ask(context, [{ handle }]);
      const [result] = results;
      if (result?.outcome?.$case !== "unknown")
        fail({ message: `${handle} is not unknown`, expected: "unknown", got: show(result?.outcome), exchange });
    },
  },
  {
    ...base,
    level: "S",
    id: "vol.not-owned",
    title: "a volume of a driver that is not declared is not_owned, never absent",
    rules: ["VOL-2"],
    why: "A result for another cloud's volumes sets wrong zones on them.",
    run: async (context) => {
      const { results, exchange } = await ask(context, [foreign]);
      const outcome = results[0]?.outcome;
      if (outcome?.$case !== "notOwned")
        fail({ message: "it belongs to another provider", expected: "not_owned", got: show(outcome), exchange });
    },
  },
  {
    ...base,
    level: "S",
    id: "vol.no-source",
    title: "a volume that does not say where it is is unknown or refused, never absent",
    rules: ["VOL-1", "ABS-2"],
    why: "A source of a kind that this provider does not know looks like none.",
    run: async (context) => {
      const request = { context: context.callContext, volumes: [{ name: "conformance-0" }] };
      const called = await context.caller.call(methods.batchGetVolumes, request);
      if (called.kind === "error" && called.error.code === 3) return;
      const outcome = expectOk(called, "a volume without source").response.results[0]?.outcome;
      if (outcome?.$case !== "unknown")
        fail({ message: "it is not unknown", expected: "unknown", got: show(outcome), exchange: called.exchange });
    },
  },
];

const batching: readonly Check[] = [
  {
    ...base,
    level: "R",
    id: "vol.scope.echo",
    title: "the answer carries the scope of the handshake",
    rules: ["SHAPE-7", "VOL-1"],
    why: "In another account no volume exists.",
    run: async (context) => {
      const { response, exchange } = await ask(context, [foreign]);
      if (response.scopeId !== context.info.scopeId)
        fail({ message: "the scope is another", expected: context.info.scopeId, got: response.scopeId, exchange });
    },
  },
  {
    ...withVolume,
    fixtures: ["volume", "absentVolumeHandle"],
    id: "vol.batch.mixed",
    title: "volumes that are there, that are not and that are another's, each twice, are answered in their order",
    rules: ["VOL-1", "BAT-1"],
    why: "Results are matched by their place.",
    requires: ["vol.get.found", "vol.absent.never", "vol.not-owned"],
    run: async (context) => {
      const absent: Ref = { handle: context.fixtures.absentVolumeHandle ?? "" };
      const mine = fixture(context);
      const { results, exchange } = await ask(context, [foreign, mine, absent, mine, absent, foreign]);
      const got = results.map(({ outcome }) => outcome?.$case ?? "nothing").join(", ");
      const expected = "notOwned, volume, absent, volume, absent, notOwned";
      if (got !== expected) fail({ message: "the order of outcomes is another", expected, got, exchange });
    },
  },
];

/** Volumes: found, described rightly, and never said to be gone when they may not be. */
export const volumeChecks: readonly Check[] = [...finding, ...missing, ...batching];
