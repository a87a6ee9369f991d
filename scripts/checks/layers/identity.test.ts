import { describe, expect, test } from "vitest";
import { messages } from "./test/messages.ts";

const FILE = "controller/src/controllers/route/plan.ts";
const FIX = "as texts: use isSameInstance(), InstanceMap, hasPrefix(), parseCidr() or canonicalCidr()";

describe("identityFindings()", () => {
  test.each([
    ["an ID with an ID", "f(route.targetProviderId === node.spec.providerID);", "provider IDs"],
    ["an ID with a text", 'f(providerID !== "acme://1");', "provider IDs"],
    ["an ID among others", "f(ids.includes(spec.providerID));", "provider IDs"],
    ["the begin of an ID", "f(spec.providerID.startsWith(prefix));", "provider IDs"],
    ["a CIDR with a CIDR", "f(route.destinationCidr == known.cidr);", "CIDRs"],
    ["a CIDR among others", "f(spec.podCIDRs.includes(podCIDR));", "CIDRs"],
  ])("refuses to compare %s (case N-2)", (_sentence, text, what) => {
    expect(messages({ [FILE]: text })).toEqual([`${FILE}:1 compares ${what} ${FIX}`]);
  });

  test.each([
    ["whether there is an ID", 'f(spec.providerID === "", providerId !== undefined);'],
    ["two versions of one object", "f(old.spec.providerID !== node.spec.providerID);"],
    ["instances", "f(isSameInstance(route.targetProviderId, node.spec.providerID));"],
    ["parts of a parsed CIDR", "f(one.cidr.text === other.cidr.text);"],
    ["a name in a text", 'f(field === "providerID");'],
  ])("allows %s", (_sentence, text) => {
    expect(messages({ [FILE]: text })).toEqual([]);
  });

  test("allows tests to compare texts", () => {
    expect(messages({ "controller/src/controllers/route/plan.test.ts": "f(a.providerID === b);" })).toEqual([]);
  });
});
