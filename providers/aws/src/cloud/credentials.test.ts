import { expect, test } from "vitest";
import { asExpiring } from "./credentials.ts";

const keys = { accessKeyId: "AKIA", secretAccessKey: "secret" };

test("asExpiring() gives credentials without an end one, a minute beyond the five that the SDK of AWS keeps", () => {
  expect(asExpiring(keys, 1_000_000)).toEqual({ ...keys, expiration: new Date(1_000_000 + 360_000) });
});

test("asExpiring() leaves an end as it is", () => {
  const session = { ...keys, sessionToken: "t", expiration: new Date(5) };
  expect(asExpiring(session, 1_000_000)).toBe(session);
});
