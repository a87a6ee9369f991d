import fc from "fast-check";
import { expect, test } from "vitest";
import { FakeLog } from "../../../test/support/fake-log.ts";
import { DRIVER, present, REGION, ZONE } from "../../../test/support/provider/volume-builders.ts";
import type { AdmissionPatchStep, AdmissionRequest } from "../../api/admission.ts";
import { PERSISTENT_VOLUMES } from "../../kube/resources/persistent-volume.ts";
import type { TopologyTerm, Volume } from "../../provider/model/volume.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import { isRecord, type JsonRecord } from "../../util/json.ts";
import { admissionCounter } from "./metrics.ts";
import { planAdmission } from "./plan.ts";
import { admissionPatch, factsOf } from "./plan/labels.ts";
import { persistentVolumeWebhook } from "./webhook.ts";

const word = fc.constantFrom("a", "b", "c");
const key = fc.constantFrom(ZONE, REGION, "disk", "rack");
const labels = fc.dictionary(fc.constantFrom(ZONE, REGION, "app", "a~b/c"), word);
const requirement = fc.record({
  key,
  operator: fc.constantFrom("In", "NotIn"),
  values: fc.array(word, { minLength: 1 }),
});
const term = fc.record(
  { matchExpressions: fc.array(requirement, { maxLength: 3 }), matchFields: fc.constant([{ key: "metadata.name" }]) },
  { requiredKeys: [] },
);
const nodeAffinity = fc.record({ required: fc.record({ nodeSelectorTerms: fc.array(term, { maxLength: 3 }) }) });
const object = fc.record({
  metadata: fc.record({ name: fc.constant("pv"), labels }, { requiredKeys: ["name"] }),
  spec: fc.record(
    { csi: fc.constant({ driver: DRIVER, volumeHandle: "vol-1" }), nodeAffinity },
    { requiredKeys: ["csi"] },
  ),
});
const topologyTerm: fc.Arbitrary<TopologyTerm> = fc.uniqueArray(
  fc.record({ key: fc.constantFrom("rack", "row"), values: fc.array(word, { minLength: 1 }) }),
  { selector: (one) => one.key, minLength: 1 },
);
const volume: fc.Arbitrary<Volume> = fc.record({
  id: fc.constant("vol-1"),
  zones: fc.uniqueArray(word),
  region: fc.option(word, { nil: undefined }),
  labels: fc.dictionary(fc.constantFrom("tier", "app"), word),
  nodeAffinity: fc.array(topologyTerm, { maxLength: 2 }),
});

/** RFC 6902, as far as the patches go. */
function applied(target: JsonRecord, steps: readonly AdmissionPatchStep[]): JsonRecord {
  return steps.reduce<JsonRecord>((result, { path, value }) => {
    const keys = path
      .slice(1)
      .split("/")
      .map((one) => one.replaceAll("~1", "/").replaceAll("~0", "~"));
    return put(result, keys, value);
  }, target);
}

function put(target: unknown, [first = "", ...rest]: readonly string[], value: unknown): JsonRecord {
  const record = isRecord(target) ? target : {};
  return { ...record, [first]: rest.length === 0 ? value : put(record[first], rest, value) };
}

function patchFor(target: JsonRecord, known: Volume): readonly AdmissionPatchStep[] {
  const result = factsOf(known);
  if (result.kind === "invalid") throw new Error(result.message);
  return admissionPatch(target, planAdmission(PERSISTENT_VOLUMES.fromJson(target), result.facts));
}

test("what is admitted says what the cloud says, keeps what it said itself, and is the same when looked at again", () => {
  fc.assert(
    fc.property(object, volume, (target, known) => {
      const admitted = applied(target, patchFor(target, known));
      expect(patchFor(admitted, known)).toEqual([]);
      const [before, after] = [PERSISTENT_VOLUMES.fromJson(target), PERSISTENT_VOLUMES.fromJson(admitted)];
      const result = factsOf(known);
      expect(after.metadata.labels).toEqual({
        ...before.metadata.labels,
        ...(result.kind === "facts" ? result.facts.labels : {}),
      });
      const kept = (before.spec.nodeAffinity?.terms ?? []).map(({ matchExpressions }) => matchExpressions);
      const now = (after.spec.nodeAffinity?.terms ?? []).map(({ matchExpressions }) => matchExpressions);
      expect(kept.every((one) => now.some((other) => startsWith(other, one)))).toBe(true);
    }),
  );
});

function startsWith(whole: readonly unknown[], start: readonly unknown[]): boolean {
  return JSON.stringify(whole.slice(0, start.length)) === JSON.stringify(start);
}

test("whatever is sent, the webhook answers and does not fail", async () => {
  const webhook = persistentVolumeWebhook({
    volumes: { get: () => Promise.resolve(present()) },
    results: admissionCounter(new Metrics()),
    log: new FakeLog(),
  });
  const hostile = fc.record(
    {
      metadata: fc.oneof(fc.object({ key: fc.constantFrom("labels", "annotations", "name") }), fc.jsonValue()),
      spec: fc.oneof(
        fc.object({ key: fc.constantFrom("csi", "driver", "volumeHandle", "cinder", "nodeAffinity", "required") }),
        fc.jsonValue(),
      ),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(hostile, async (sent) => {
      const request: AdmissionRequest = {
        uid: "r",
        resource: { group: "", version: "v1", resource: "persistentvolumes" },
        subResource: "",
        operation: "CREATE",
        object: sent,
      };
      const decision = await webhook.admit(request, new AbortController().signal);
      expect(["allowed", "denied"]).toContain(decision.kind);
    }),
    { numRuns: 500 },
  );
});
