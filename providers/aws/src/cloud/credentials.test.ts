import { expect, test } from "vitest";
import { RotatingCredentials } from "./credentials.ts";

/** A file whose keys contain the number of reads, and a clock. */
const setUp = (more: { readonly expiration?: Date } = {}) => {
  const clock = { nowMs: 1_000_000 };
  let reads = 0;
  const read = async () => ({ accessKeyId: `read ${++reads}`, secretAccessKey: "secret", ...more });
  const credentials = new RotatingCredentials(() => clock.nowMs, read);
  const keyAfter = async (ms: number) => {
    clock.nowMs += ms;
    return (await credentials.provide()).accessKeyId;
  };
  return { credentials, keyAfter };
};

test("RotatingCredentials reads credentials without an end again after a minute", async () => {
  const { keyAfter } = setUp();
  expect([await keyAfter(0), await keyAfter(59_999), await keyAfter(1), await keyAfter(1)]).toEqual([
    "read 1",
    "read 1",
    "read 2",
    "read 2",
  ]);
});

test("RotatingCredentials reads them again two seconds after the last time when they were refused", async () => {
  const { credentials, keyAfter } = setUp();
  await keyAfter(0);
  credentials.refused();
  expect([await keyAfter(1_999), await keyAfter(1), await keyAfter(2_000)]).toEqual(["read 1", "read 2", "read 2"]);
});

test("RotatingCredentials lets the SDK of AWS ask with each request, for less than five minutes are left", async () => {
  const { credentials } = setUp();
  expect((await credentials.provide()).expiration).toEqual(new Date(1_000_000 + 299_000));
});

test("RotatingCredentials leaves to the SDK of AWS what has an end", async () => {
  const expiration = new Date(5_000_000);
  const { credentials, keyAfter } = setUp({ expiration });
  expect((await credentials.provide()).expiration).toBe(expiration);
  expect(await keyAfter(0)).toBe("read 2");
});
