import { describe, expect, test } from "vitest";
import { formatReview, parseReview } from "./webhook-server.ts";

const REQUEST = {
  uid: "r-1",
  resource: { group: "", version: "v1", resource: "persistentvolumes" },
  operation: "CREATE",
  object: { kind: "PersistentVolume" },
  dryRun: true,
};
const review = (request: unknown) => ({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request });

describe("parseReview()", () => {
  test("reads a request", () => {
    expect(parseReview(review(REQUEST))).toEqual({
      uid: "r-1",
      resource: { group: "", version: "v1", resource: "persistentvolumes" },
      subResource: "",
      operation: "CREATE",
      object: { kind: "PersistentVolume" },
    });
  });

  test.each([undefined, null])("reads a request without object: %s", (object) => {
    expect(parseReview(review({ ...REQUEST, object })).object).toBeUndefined();
  });

  test.each([
    { body: undefined, problem: "want an AdmissionReview as JSON" },
    { body: "text", problem: "want an AdmissionReview as JSON" },
    { body: [], problem: "want an AdmissionReview as JSON" },
    { body: {}, problem: 'want admission.k8s.io/v1 AdmissionReview, got "" ""' },
    {
      body: { ...review(REQUEST), apiVersion: "admission.k8s.io/v1beta1" },
      problem: 'want admission.k8s.io/v1 AdmissionReview, got "admission.k8s.io/v1beta1" "AdmissionReview"',
    },
    { body: { ...review(REQUEST), kind: 1 }, problem: "kind: want a text, got number" },
    { body: review(undefined), problem: "the review has no request" },
    { body: review([REQUEST]), problem: "the review has no request" },
    { body: review({ ...REQUEST, uid: "" }), problem: "the request has no uid" },
    { body: review({ ...REQUEST, uid: 7 }), problem: "uid: want a text, got number" },
    { body: review({ ...REQUEST, resource: "pv" }), problem: "resource: want an object, got string" },
    { body: review({ ...REQUEST, operation: {} }), problem: "operation: want a text, got object" },
  ])("refuses a body: $problem", ({ body, problem }) => {
    expect(() => parseReview(body)).toThrow(expect.objectContaining({ code: "DECODE", message: problem }));
  });
});

describe("formatReview()", () => {
  const answer = (response: object) => ({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: { uid: "r-1", ...response },
  });

  test("allows without patch and warnings when there are none", () => {
    expect(formatReview("r-1", { kind: "allowed", patch: [], warnings: [] })).toEqual(answer({ allowed: true }));
  });

  test("sends a patch in base64, and warnings of a length that the API server passes on", () => {
    const patch = [{ op: "add" as const, path: "/metadata/labels", value: { a: "ü" } }];
    expect(formatReview("r-1", { kind: "allowed", patch, warnings: ["x".repeat(300)] })).toEqual(
      answer({
        allowed: true,
        patchType: "JSONPatch",
        patch: Buffer.from('[{"op":"add","path":"/metadata/labels","value":{"a":"ü"}}]').toString("base64"),
        warnings: ["x".repeat(256)],
      }),
    );
  });

  test("denies for good with 403", () => {
    const decision = { kind: "denied", reason: "forbidden", message: "no", retryAfterSeconds: undefined } as const;
    expect(formatReview("r-1", decision)).toEqual(
      answer({ allowed: false, status: { code: 403, reason: "Forbidden", message: "no" } }),
    );
  });

  test("denies for now with 503 and a time to come back", () => {
    const decision = { kind: "denied", reason: "unavailable", message: "later", retryAfterSeconds: 2 } as const;
    expect(formatReview("r-1", decision)).toEqual(
      answer({
        allowed: false,
        status: { code: 503, reason: "ServiceUnavailable", message: "later", details: { retryAfterSeconds: 2 } },
      }),
    );
  });
});
