import { expect, test } from "vitest";
import { node } from "../../../test/support/builders.ts";
import { csr } from "../../../test/support/node/builders-csr.ts";
import { nodeWithoutCertificate, requestNotApproved } from "./events.ts";
import { objection } from "./plan/claim.ts";

const why = objection("instanceNotFound", "its instance does not exist");

test.each([
  {
    it: "requestNotApproved() reports the client that reads the request",
    event: requestNotApproved(csr(), why),
    regarding: {
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      name: "csr-1",
      uid: "uid-csr-1",
    },
    message: "Request is not approved: its instance does not exist",
  },
  {
    it: "nodeWithoutCertificate() reports the client that reads the Node",
    event: nodeWithoutCertificate(node("node-a"), why),
    regarding: { apiVersion: "v1", kind: "Node", name: "node-a", uid: "uid-node-a" },
    message: "The kubelet's request for a serving certificate is not approved: its instance does not exist",
  },
])("$it", ({ event, regarding, message }) => {
  const reason = "KubeletServingCSRNotApproved";
  expect(event).toEqual({ regarding: { namespace: "", ...regarding }, type: "Warning", reason, message });
});
