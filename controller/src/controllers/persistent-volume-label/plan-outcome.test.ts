import { describe, expect, test } from "vitest";
import { ABSENT, persistentVolume, present, REGION, ZONE } from "../../../test/support/provider/volume-builders.ts";
import { contractError } from "../../provider/model/errors.ts";
import { describeVolume, planOutcome } from "./plan.ts";

const pv = persistentVolume("pv");
const VOLUME = "volume vol-1 of CSI driver csi.acme.example.com";

describe("planOutcome()", () => {
  test("labels what the cloud knows", () => {
    expect(planOutcome({ pv, known: present() })).toEqual({
      kind: "label",
      pv,
      labels: { [ZONE]: "a", [REGION]: "r" },
      topology: [
        [
          { key: ZONE, values: ["a"] },
          { key: REGION, values: ["r"] },
        ],
      ],
    });
  });

  test("adds the affinity that the provisioner's labels say", () => {
    const facts = { labels: {}, topology: [[{ key: ZONE, values: ["a"] }]], dropped: [] };
    expect(planOutcome({ pv, known: { kind: "provisioned", result: { kind: "facts", facts } } })).toEqual({
      kind: "label",
      pv,
      labels: {},
      topology: facts.topology,
    });
  });

  test("finds nothing to do when nothing is known", () => {
    expect(planOutcome({ pv, known: present({ zones: [], region: undefined }) })).toEqual({ kind: "unchanged", pv });
  });

  test("says what differs", () => {
    const labeled = { ...pv, metadata: { ...pv.metadata, labels: { [ZONE]: "b" } } };
    expect(planOutcome({ pv: labeled, known: present() })).toEqual({
      kind: "mismatch",
      pv: labeled,
      message: `label ${ZONE} is "b", but "a" in the cloud`,
    });
  });

  test("leaves what is owned by another client", () => {
    expect(planOutcome({ pv, known: { kind: "notOwned", message: "no" } })).toEqual({ kind: "leave", pv });
  });

  test.each([
    { known: ABSENT, result: "absent", message: `the cloud has no ${VOLUME}` },
    {
      known: { kind: "unknown" as const, error: contractError("FIELD_INVALID", "malformed") },
      result: "unknown",
      message: `${VOLUME} cannot be looked up: malformed`,
    },
    {
      known: present({ zones: ["a/b"], region: undefined }),
      result: "invalid",
      message: `the cloud's node affinity "${ZONE} in (a/b)" is not valid in Kubernetes`,
    },
  ])("gives up until something changes: $message", ({ known, result, message }) => {
    expect(planOutcome({ pv, known })).toEqual({ kind: "invalid", pv, result, message });
  });

  test.each([
    { kind: "unknown" as const, error: contractError("CLOUD_UNAVAILABLE", "gone") },
    { kind: "unknown" as const, error: contractError("CLOUD_CREDENTIALS_INVALID", "no key") },
    { kind: "undecided" as const, error: contractError("PROVIDER_STARTING", "not yet") },
    { kind: "undecided" as const, error: contractError("FIELD_INVALID", "not asked") },
  ])("tries again after $error.reason", (known) => {
    expect(planOutcome({ pv, known })).toEqual({ kind: "retry", pv, error: known.error });
  });
});

test.each([
  { source: undefined, text: "volume" },
  { source: { kind: "inTree" as const, plugin: "p", volumeId: "v" }, text: "volume v of plugin p" },
])("describeVolume() says $text", ({ source, text }) => {
  expect(describeVolume(source)).toBe(text);
});
