import { describe, expect, test } from "vitest";
import { node } from "../../../test/support/builders.ts";
import { providerIdDifference } from "./plan.ts";

const ADVICE =
  "the provider ID of a Node cannot be changed: make sure that its kubelet runs with the right --provider-id, delete the Node and let it register again";
const OWN = { providerId: "acme://1", providerIdByName: undefined, duplicates: [] };

describe("providerIdDifference()", () => {
  const subject = node("a", { spec: { providerID: "acme://1" } });

  test.each([
    {
      it: "another node has the same ID",
      identity: { ...OWN, duplicates: ["b", "c"] },
      message: `node b has the same provider ID acme://1, but an instance can be only one of them; ${ADVICE}`,
    },
    {
      it: "the machine of the node's name has another ID",
      identity: { ...OWN, providerIdByName: "acme://2" },
      message: `the Node has provider ID acme://1, which has another name in the cloud; the instance with the name a has acme://2; ${ADVICE}`,
    },
    {
      it: "only the machine of the node's name exists, recreated",
      identity: { ...OWN, providerId: undefined, providerIdByName: "acme://2" },
      message: `the Node has provider ID acme://1, which the cloud does not have; the instance with the name a has acme://2; ${ADVICE}`,
    },
    {
      it: "the cloud answers with another ID",
      identity: { ...OWN, providerId: "acme://2" },
      message: `the Node has provider ID acme://1, but the cloud reports acme://2 for this instance; ${ADVICE}`,
    },
  ])("reports when $it", ({ identity, message }) => {
    expect(providerIdDifference(subject, identity)).toEqual({ field: "providerID", message });
  });

  test.each([
    { it: "the IDs are the same", given: subject, identity: OWN },
    { it: "the machine of the name is the same", given: subject, identity: { ...OWN, providerIdByName: "acme://1" } },
    { it: "the machine is absent, and its name too", given: subject, identity: { ...OWN, providerId: undefined } },
    {
      it: "the cloud spells it otherwise",
      given: node("a", { spec: { providerID: "acme-legacy://I-1" } }),
      identity: { ...OWN, providerId: "acme://i-1", providerIdByName: "ACME://i-1" },
    },
    {
      it: "the node has no ID",
      given: node("a"),
      identity: { ...OWN, providerIdByName: "acme://2", duplicates: ["b"] },
    },
    {
      it: "the cloud writes the ID with its zone (case N-2)",
      given: subject,
      identity: { ...OWN, providerId: "acme://zone/1", providerIdByName: "ACME:///1" },
    },
  ])("says nothing when $it", ({ given, identity }) => {
    expect(providerIdDifference(given, identity)).toBeUndefined();
  });
});
