import { expect, test } from "vitest";
import { FakeLog } from "../../test/support/fake-log.ts";
import type { AdmissionDecision, AdmissionRequest, AdmissionWebhook } from "../api/admission.ts";
import { observedWebhook } from "./webhooks.ts";

const UNTOUCHED: AdmissionDecision = { kind: "allowed", patch: [], warnings: [] };
const PATCHED: AdmissionDecision = {
  kind: "allowed",
  patch: [{ op: "add", path: "/metadata/labels", value: { zone: "a" } }],
  warnings: ["mind the gap"],
};
const DENIED: AdmissionDecision = {
  kind: "denied",
  message: "no such volume",
  reason: "forbidden",
  retryAfterSeconds: undefined,
};
const { signal } = new AbortController();

const request: AdmissionRequest = {
  uid: "r-1",
  resource: { group: "", version: "v1", resource: "persistentvolumes" },
  subResource: "",
  operation: "CREATE",
  object: { metadata: { name: "pv-1" } },
};

async function answer(decide: () => Promise<AdmissionDecision>) {
  const log = new FakeLog();
  const evaluated: AdmissionRequest[] = [];
  const webhook: AdmissionWebhook = {
    name: "label",
    path: "/label",
    admit: async (given) => {
      evaluated.push(given);
      return decide();
    },
  };
  const decision = await observedWebhook(webhook, log).admit(request, signal);
  return { decision, evaluated, lines: log.lines };
}

const would = (decision: unknown) => [
  {
    level: "info",
    message: "Would have changed or denied a request: observe mode",
    fields: { webhook: "label", name: "pv-1", decision },
  },
];

const fault = new Error("the provider is away");

test.each([
  { it: "a patch", decide: async () => PATCHED, lines: would(PATCHED) },
  {
    it: "a refusal",
    decide: async () => DENIED,
    lines: would(DENIED),
  },
  { it: "a failure", decide: () => Promise.reject(fault), lines: would({ kind: "failed", error: fault }) },
  { it: "an object left as it is", decide: async () => UNTOUCHED, lines: [] },
])("an observed webhook evaluates, allows unchanged, and logs $it", async ({ decide, lines }) => {
  const answered = await answer(decide);
  expect(answered).toEqual({ decision: UNTOUCHED, evaluated: [request], lines });
});
