import { expect, test } from "vitest";
import { formatId, parseId } from "./provider-id.ts";

test("parseId() reads what formatId() writes, in any letter case (case N-7)", () => {
  const place = { zone: "north-a", instanceId: "i-253d950f11eb" };
  expect(formatId(place)).toBe("north-a/i-253d950f11eb");
  expect(parseId(formatId(place))).toEqual(place);
  expect(parseId(formatId(place).toUpperCase())).toEqual(place);
});

test.each(["", "i-253d950f11eb", "north-a/", "north-a/i-253d950f11e", "north-a/x-253d950f11eb", "a/b/i-253d950f11eb"])(
  "parseId() refuses %j and says what is right",
  (id) => {
    expect(parseId(id)).toMatchObject({
      reason: "PROVIDER_ID_MALFORMED",
      message: `provider ID sim://${id} is not of the form sim://<zone>/i-<12 hex digits>`,
    });
  },
);
