import { AbsenceBasis } from "@cloudwire/proto/cloudprovider/v1/common";
import type { Volume, VolumeResult } from "@cloudwire/proto/cloudprovider/v1/volume";
import { methods } from "../../contract/methods.ts";
import { alterResponse, type Mutant, requestOf } from "../mutant.ts";
import type { Intercept } from "../mutant-proxy.ts";

const batch = methods.batchGetVolumes;

const results = (alter: (result: VolumeResult) => VolumeResult): Intercept =>
  alterResponse(batch, (answer) => ({ ...answer, results: answer.results.map(alter) }));

const volumes = (alter: (volume: Volume) => Volume): Intercept =>
  results((result) =>
    result.outcome?.$case === "volume"
      ? { ...result, outcome: { $case: "volume", value: alter(result.outcome.value) } }
      : result,
  );

const absent = {
  $case: "absent",
  value: { basis: AbsenceBasis.LOOKUP_MISS, observeTime: new Date(0), stronglyConsistent: true },
} as const;

/** Says of one kind of outcome that the volume is absent. */
const calledAbsent = (kind: NonNullable<VolumeResult["outcome"]>["$case"]) =>
  results((result) => (result.outcome?.$case === kind ? { ...result, outcome: absent } : result));

/** Faults of what is said of volumes. */
export const volumeMutants: readonly Mutant[] = [
  {
    name: "volume-no-id",
    fault: "a volume comes without its id",
    fails: ["vol.get.found"],
    intercept: volumes((volume) => ({ ...volume, id: "" })),
  },
  {
    name: "volume-one-zone",
    fault: "only one of a volume's zones is reported",
    fails: ["vol.get.expected"],
    intercept: volumes((volume) => ({ ...volume, zones: volume.zones.slice(0, 1) })),
  },
  {
    name: "volume-zones-shuffled",
    fault: "a volume's zones are in no order",
    fails: ["vol.zones.sorted"],
    intercept: volumes((volume) => ({ ...volume, zones: volume.zones.toReversed() })),
  },
  {
    name: "volume-bad-label",
    fault: "a volume's label has a value that is none",
    fails: ["vol.labels.valid"],
    intercept: volumes((volume) => ({ ...volume, labels: { "acme.example.com/name": "My Volume!" } })),
  },
  {
    name: "volume-cached",
    fault: "what is said of volumes is a minute old whatever is asked",
    fails: ["vol.age.honored"],
    intercept: results((result) => ({ ...result, readTime: new Date(Date.now() - 60_000) })),
  },
  {
    name: "volume-absence-bare",
    fault: "absences of volumes have no basis",
    fails: ["vol.absent.never"],
    intercept: results((result) =>
      result.outcome?.$case === "absent"
        ? { ...result, outcome: { ...absent, value: { ...absent.value, basis: AbsenceBasis.UNSPECIFIED } } }
        : result,
    ),
  },
  {
    name: "volume-malformed-is-absent",
    fault: "a handle that cannot be read is an absent volume",
    fails: ["vol.absent.malformed"],
    intercept: async (request, next) =>
      requestOf(request, batch)?.volumes.some(({ source }) => source === undefined) === true
        ? next(request)
        : calledAbsent("unknown")(request, next),
  },
  {
    name: "volume-foreign-is-absent",
    fault: "volumes of other drivers are absent",
    fails: ["compat.golden", "compat.v1-0-client", "vol.not-owned"],
    intercept: calledAbsent("notOwned"),
  },
  {
    name: "volume-nowhere-is-absent",
    fault: "a volume that does not say where it is is absent",
    fails: ["vol.no-source"],
    intercept: async (request, next) =>
      requestOf(request, batch)?.volumes.some(({ source }) => source === undefined) === true
        ? calledAbsent("unknown")(request, next)
        : next(request),
  },
  {
    name: "volume-no-scope",
    fault: "an answer about volumes has no scope",
    fails: ["vol.scope.echo"],
    intercept: alterResponse(batch, (answer) => ({ ...answer, scopeId: "" })),
  },
  {
    name: "volumes-sorted",
    fault: "results about volumes are sorted",
    fails: ["vol.batch.mixed"],
    intercept: alterResponse(batch, (answer) => ({
      ...answer,
      results: answer.results.toSorted((one, other) =>
        (one.outcome?.$case ?? "").localeCompare(other.outcome?.$case ?? ""),
      ),
    })),
  },
];
