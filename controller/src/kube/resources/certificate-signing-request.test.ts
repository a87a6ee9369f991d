import { describe, expect, test } from "vitest";
import { csr, csrCondition } from "../../../test/support/node/builders-csr.ts";
import { CERTIFICATE_SIGNING_REQUESTS, conditionPatch } from "./certificate-signing-request.ts";
import { objectPath } from "./codec.ts";

describe("CERTIFICATE_SIGNING_REQUESTS", () => {
  test("reads what the server sends", () => {
    const condition = {
      type: "Seen",
      status: "True",
      reason: "r",
      message: "m",
      lastUpdateTime: "2026-11-21T12:00:00Z",
    };
    const object = {
      metadata: { name: "csr-1", uid: "u", resourceVersion: "7", creationTimestamp: "2026-11-21T11:00:00Z" },
      spec: {
        request: "cmVxdWVzdA==",
        signerName: "kubernetes.io/kubelet-serving",
        usages: ["server auth"],
        username: "system:node:node-a",
        groups: ["system:nodes"],
        expirationSeconds: 600,
      },
      status: { conditions: [condition], certificate: "Y2VydA==" },
    };
    expect(CERTIFICATE_SIGNING_REQUESTS.fromJson(object)).toEqual(
      csr({
        metadata: { uid: "u", resourceVersion: "7", generation: 0 },
        spec: { request: "cmVxdWVzdA==", usages: ["server auth"], groups: ["system:nodes"] },
        status: { conditions: [{ ...condition, lastTransitionTime: undefined }], isIssued: true },
      }),
    );
  });

  test("reads one that is not evaluated yet", () => {
    expect(CERTIFICATE_SIGNING_REQUESTS.fromJson({ metadata: { name: "csr-1" }, spec: {}, status: {} }).status).toEqual(
      {
        conditions: [],
        isIssued: false,
      },
    );
  });

  test("lives where the server has it", () => {
    expect(objectPath(CERTIFICATE_SIGNING_REQUESTS, { name: "csr-1" }, "approval")).toBe(
      "/apis/certificates.k8s.io/v1/certificatesigningrequests/csr-1/approval",
    );
  });
});

describe("conditionPatch()", () => {
  test("keeps other conditions, and holds for this request in this version only", () => {
    const old = { ...csrCondition("Seen"), lastUpdateTime: "2026-11-21T12:00:00Z" };
    const added = csrCondition("Approved");
    expect(conditionPatch(csr({ status: { conditions: [old] } }), added)).toEqual({
      metadata: { uid: "uid-csr-1", resourceVersion: "1" },
      status: { conditions: [old, added] },
    });
  });
});
