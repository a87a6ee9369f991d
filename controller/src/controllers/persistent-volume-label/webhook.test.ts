import { beforeEach, describe, expect, test } from "vitest";
import { FakeLog } from "../../../test/support/fake-log.ts";
import { ABSENT, persistentVolumeJson, present, REGION, ZONE } from "../../../test/support/provider/volume-builders.ts";
import type { AdmissionDecision, AdmissionRequest, AdmissionWebhook } from "../../api/admission.ts";
import { contractError } from "../../provider/model/errors.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import { admissionCounter } from "./metrics.ts";
import type { VolumeKnowledge } from "../../provider/lookup/volume-reader.ts";
import { persistentVolumeWebhook } from "./webhook.ts";

const UNTOUCHED: AdmissionDecision = { kind: "allowed", patch: [], warnings: [] };
const VOLUME = "volume vol-1 of CSI driver csi.acme.example.com";
const signal = new AbortController().signal;

let metrics: Metrics;
let asked: string[];
let known: VolumeKnowledge | Promise<VolumeKnowledge>;
let webhook: AdmissionWebhook;

beforeEach(() => {
  metrics = new Metrics();
  asked = [];
  known = present();
  webhook = persistentVolumeWebhook({
    volumes: {
      get: async (pv) => {
        asked.push(pv.metadata.name);
        return known;
      },
    },
    results: admissionCounter(metrics),
    log: new FakeLog(),
  });
});

function review(parts: Partial<AdmissionRequest> = {}): AdmissionRequest {
  return {
    uid: "r-1",
    resource: { group: "", version: "v1", resource: "persistentvolumes" },
    subResource: "",
    operation: "CREATE",
    object: persistentVolumeJson("pv"),
    ...parts,
  };
}

const counted = async (result: string) => metrics.value("cloudwire_persistent_volume_admissions_total", { result });

describe("persistentVolumeWebhook()", () => {
  test("adds what the cloud says, and counts it", async () => {
    expect(await webhook.admit(review(), signal)).toEqual({
      kind: "allowed",
      patch: [
        { op: "add", path: "/metadata/labels", value: { [ZONE]: "a", [REGION]: "r" } },
        {
          op: "add",
          path: "/spec/nodeAffinity",
          value: {
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
          },
        },
      ],
      warnings: [],
    });
    expect([asked, await counted("labeled")]).toEqual([["pv"], 1]);
  });

  test("warns the user of a label that it replaces", async () => {
    const object = persistentVolumeJson("pv", {}, { labels: { [ZONE]: "z" } });
    expect(await webhook.admit(review({ object }), signal)).toMatchObject({
      kind: "allowed",
      warnings: [`label ${ZONE}="z" was replaced with "a" from the cloud`],
    });
  });

  test("changes nothing when the cloud knows no place", async () => {
    known = present({ zones: [], region: undefined });
    expect(await webhook.admit(review(), signal)).toEqual(UNTOUCHED);
    expect(await counted("unchanged")).toBe(1);
  });

  test.each<{ sentence: string; parts: Partial<AdmissionRequest> }>([
    { sentence: "an update", parts: { operation: "UPDATE" } },
    { sentence: "a status", parts: { subResource: "status" } },
    { sentence: "another kind", parts: { resource: { group: "", version: "v1", resource: "pods" } } },
    {
      sentence: "a kind of that name elsewhere",
      parts: { resource: { group: "acme.io", version: "v1", resource: "persistentvolumes" } },
    },
    { sentence: "no object", parts: { object: undefined } },
    { sentence: "a volume of no cloud", parts: { object: { metadata: {}, spec: { nfs: { path: "/x" } } } } },
  ])("lets $sentence pass untouched without asking", async ({ parts }) => {
    expect(await webhook.admit(review(parts), signal)).toEqual(UNTOUCHED);
    expect(asked).toEqual([]);
  });

  test("lets a volume of owned by another client pass untouched", async () => {
    known = { kind: "notOwned", message: "not of this cloud" };
    expect(await webhook.admit(review(), signal)).toEqual(UNTOUCHED);
    expect(await counted("not_owned")).toBe(1);
  });

  test("believes the labels of a provisioner without asking", async () => {
    const metadata = {
      annotations: { "pv.kubernetes.io/provisioned-by": "x" },
      labels: { [ZONE]: "b", [REGION]: "r" },
    };
    const object = persistentVolumeJson("pv", {}, metadata);
    const decision = await webhook.admit(review({ object }), signal);
    expect([asked, decision]).toEqual([
      [],
      expect.objectContaining({ patch: [expect.objectContaining({ path: "/spec/nodeAffinity" })], warnings: [] }),
    ]);
  });

  test.each<{ sentence: string; answer: VolumeKnowledge; message: string; result: string }>([
    {
      sentence: "the cloud has no such volume",
      answer: ABSENT,
      message: `the cloud has no ${VOLUME}; check its id and the account of the provider`,
      result: "absent",
    },
    {
      sentence: "its id is malformed",
      answer: { kind: "unknown", error: contractError("FIELD_INVALID", "not of the form vol-<12 hex digits>") },
      message: `${VOLUME} cannot be looked up: not of the form vol-<12 hex digits>`,
      result: "unknown",
    },
    {
      sentence: "the cloud's word is not valid in Kubernetes",
      answer: present({ zones: ["a/b"], region: undefined }),
      message: `the cloud's node affinity "${ZONE} in (a/b)" is not valid in Kubernetes`,
      result: "invalid",
    },
  ])("forbids it when $sentence", async ({ answer, message, result }) => {
    known = answer;
    expect(await webhook.admit(review(), signal)).toEqual({
      kind: "denied",
      reason: "forbidden",
      message,
      retryAfterSeconds: undefined,
    });
    expect(await counted(result)).toBe(1);
  });

  test("forbids what is not of the form of a PersistentVolume", async () => {
    const object = { metadata: { name: "pv", labels: [] }, spec: {} };
    expect(await webhook.admit(review({ object }), signal)).toMatchObject({
      kind: "denied",
      reason: "forbidden",
      message: "the PersistentVolume cannot be read: labels: want an object, got an array",
    });
  });

  test.each<{ sentence: string; answer: VolumeKnowledge; retryAfterSeconds: number | undefined; message: string }>([
    {
      sentence: "the provider is away",
      answer: { kind: "unknown", error: contractError("CLOUD_UNAVAILABLE", "gone") },
      retryAfterSeconds: 1,
      message: `${VOLUME} cannot be looked up: gone`,
    },
    {
      sentence: "nothing is known of the provider yet",
      answer: { kind: "undecided", error: contractError("PROVIDER_STARTING", "acme has not answered yet") },
      retryAfterSeconds: 1,
      message: `the owner of ${VOLUME} is not known yet: acme has not answered yet`,
    },
    {
      sentence: "the cloud throttles for a moment",
      answer: { kind: "unknown", error: contractError("RATE_LIMITED", "slow", { retryAfterMs: 1200 }) },
      retryAfterSeconds: 2,
      message: `${VOLUME} cannot be looked up: slow`,
    },
    {
      sentence: "the cloud throttles for longer than a user waits in silence",
      answer: { kind: "unknown", error: contractError("RATE_LIMITED", "slow", { retryAfterMs: 5001 }) },
      retryAfterSeconds: undefined,
      message: `${VOLUME} cannot be looked up: slow`,
    },
    {
      sentence: "an operator must act",
      answer: { kind: "unknown", error: contractError("CLOUD_CREDENTIALS_INVALID", "no key") },
      retryAfterSeconds: undefined,
      message: `${VOLUME} cannot be looked up: no key`,
    },
  ])("puts it off when $sentence", async ({ answer, retryAfterSeconds, message }) => {
    known = answer;
    expect(await webhook.admit(review(), signal)).toEqual({
      kind: "denied",
      reason: "unavailable",
      message,
      retryAfterSeconds,
    });
    expect(await counted("unknown")).toBe(1);
  });

  test("puts it off when the cloud does not answer in time", async () => {
    const late = new AbortController();
    known = Promise.reject(new Error("late"));
    late.abort(new Error("late"));
    expect(await webhook.admit(review(), late.signal)).toEqual({
      kind: "denied",
      reason: "unavailable",
      message: `the cloud did not respond in time about ${VOLUME}; try again`,
      retryAfterSeconds: undefined,
    });
  });

  test("fails when its reader does", async () => {
    const fault = new Error("a fault");
    known = Promise.reject(fault);
    await expect(webhook.admit(review(), signal)).rejects.toBe(fault);
  });
});
