import { describe, expect, test } from "vitest";
import type { ProxyTrust } from "./client-trust.ts";
import { userFromProxyHeaders } from "./authenticator.ts";

const TRUST: ProxyTrust = {
  authorities: [],
  allowedNames: [],
  usernameHeaders: ["x-remote-user", "x-other-user"],
  uidHeaders: ["x-remote-uid"],
  groupHeaders: ["x-remote-group"],
  extraPrefixes: ["x-remote-extra-"],
};

describe("userFromProxyHeaders()", () => {
  test.each([
    ["no user without a user header", { "x-remote-group": ["admins"] }, undefined],
    ["no user for an empty user header", { "x-remote-user": [""] }, undefined],
    ["the first name that is there", { "x-other-user": ["o"], "x-remote-user": ["u"] }, { name: "u" }],
    ["the second header when the first is empty", { "x-remote-user": [""], "x-other-user": ["o"] }, { name: "o" }],
    ["the UID", { "x-remote-user": ["u"], "x-remote-uid": ["7"] }, { name: "u", uid: "7" }],
    ["every group", { "x-remote-user": ["u"], "x-remote-group": ["a", "b"] }, { name: "u", groups: ["a", "b"] }],
    [
      "a group with a comma as one group",
      { "x-remote-user": ["u"], "x-remote-group": ["a, system:masters"] },
      { name: "u", groups: ["a, system:masters"] },
    ],
    [
      "extra attributes, decoded",
      { "x-remote-user": ["u"], "x-remote-extra-acme.com%2fproject": ["p", "q"], "x-remote-extra-%zz": ["r"] },
      { name: "u", extra: { "acme.com/project": ["p", "q"], "%zz": ["r"] } },
    ],
  ])("answers %s", (_sentence, headers, user) => {
    const expected = user && { uid: "", groups: [], extra: {}, ...user };
    expect(userFromProxyHeaders(headers, TRUST)).toEqual(expected);
  });
});
