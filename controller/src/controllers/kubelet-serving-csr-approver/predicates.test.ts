import { describe, expect, test } from "vitest";
import { CREATED_MS, node } from "../../../test/support/builders.ts";
import { csr, csrCondition, type CsrParts } from "../../../test/support/node/builders-csr.ts";
import { changesInstance, decides, isOld, isPending } from "./predicates.ts";

describe("isPending()", () => {
  test.each<{ readonly it: string; readonly parts: CsrParts; readonly pending: boolean }>([
    { it: "no one has decided about", parts: {}, pending: true },
    { it: "has a condition of another kind", parts: { status: { conditions: [csrCondition("Seen")] } }, pending: true },
    { it: "is approved", parts: { status: { conditions: [csrCondition("Approved")] } }, pending: false },
    { it: "is denied", parts: { status: { conditions: [csrCondition("Denied")] } }, pending: false },
    { it: "the signer has failed", parts: { status: { conditions: [csrCondition("Failed")] } }, pending: false },
    { it: "has its certificate", parts: { status: { isIssued: true } }, pending: false },
    { it: "is being deleted", parts: { metadata: { deletionTimestampMs: CREATED_MS } }, pending: false },
    {
      it: "is for another signer",
      parts: { spec: { signerName: "kubernetes.io/kube-apiserver-client-kubelet" } },
      pending: false,
    },
  ])("is $pending for a request that $it", ({ parts, pending }) => {
    expect(isPending(csr(parts))).toBe(pending);
  });
});

describe("isOld()", () => {
  test("is true after an hour", () => {
    expect([isOld(csr(), CREATED_MS + 3_600_000), isOld(csr(), CREATED_MS + 3_600_001)]).toEqual([false, true]);
  });
});

describe("decides()", () => {
  const approved = csr({ status: { conditions: [csrCondition("Approved")] } });
  test("is true when an operator has decided, and not when anything else has changed", () => {
    expect(decides(csr(), approved)).toBe(true);
    expect(decides(csr(), csr({ metadata: { labels: { a: "b" } } }))).toBe(false);
    expect(decides(approved, approved)).toBe(false);
  });
});

describe("changesInstance()", () => {
  const before = node("node-a");
  test.each([
    { it: "nothing of the machine", after: node("node-a", { metadata: { labels: { a: "b" } } }), changes: false },
    { it: "its provider ID", after: node("node-a", { spec: { providerID: "acme://1" } }), changes: true },
    {
      it: "its addresses",
      after: node("node-a", { status: { addresses: [{ type: "InternalIP", address: "10.0.0.1" }] } }),
      changes: true,
    },
    { it: "everything, being recreated", after: node("node-a", { metadata: { uid: "uid-2" } }), changes: true },
  ])("is $changes for a Node that changes $it", ({ after, changes }) => {
    expect(changesInstance(before, after)).toBe(changes);
  });
});
