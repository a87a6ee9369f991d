import { describe, expect, test } from "vitest";
import { createProviderIds } from "./provider-ids.ts";

describe("ProviderIds.complete()", () => {
  const { complete } = createProviderIds(["acme://", "acme-legacy://"]);

  test.each<[string, string | undefined, string]>([
    ["i-1", undefined, "acme://i-1"],
    ["i-1", "acme-legacy://", "acme-legacy://i-1"],
    ["acme-legacy://i-1", undefined, "acme-legacy://i-1"],
    ["/zone-a/i-1", undefined, "acme:///zone-a/i-1"],
    ["zone-a/b://c", undefined, "acme://zone-a/b://c"],
  ])("makes of %s under %s the provider ID %s", (id, prefix, wanted) => {
    expect(complete(id, prefix)).toBe(wanted);
  });

  test.each<[string, RegExp]>([
    [
      "aws:///zone-a/i-1",
      /id aws:.* has a prefix that is not of this provider \(acme:\/\/, acme-legacy:\/\/\); answer/,
    ],
    ["acme://acme://i-1", /has a prefix that is not of this provider/],
    ["", /id is ""; answer the cloud's id/],
    [JSON.parse("7"), /id is 7; answer the cloud's id of the machine, a text/],
    [JSON.parse("{}").id, /id is missing; answer/],
  ])("reports the problem with %j", (id, wanted) => {
    expect(() => complete(id)).toThrow(wanted);
  });
});
