import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { textOf, certificateProblem } from "./send.ts";

test("textOf() gives the whole text", async () => {
  const incoming = new PassThrough();
  incoming.write("a");
  incoming.end("b");
  expect(await textOf(incoming, 2, 5000)).toBe("ab");
});

test("textOf() waits for no answer that does not go on", async () => {
  const incoming = new PassThrough();
  incoming.write("a");
  await expect(textOf(incoming, 100, 10)).rejects.toThrow("the response stalled for 0.01 s");
  expect(incoming.destroyed).toBe(true);
});

test("textOf() reads no further than it may", async () => {
  const incoming = new PassThrough();
  incoming.write("abc");
  await expect(textOf(incoming, 2, 5000)).rejects.toThrow("the response is longer than");
  expect(incoming.destroyed).toBe(true);
});

describe("untrusted", () => {
  const failed = (message: string, code: string) => Object.assign(new Error(message), { code });

  test.each([
    [failed("certificate has expired", "CERT_HAS_EXPIRED"), "certificate has expired"],
    [
      failed(
        "unable to verify the first certificate; if the root CA is installed locally, try running Node.js with --use-system-ca",
        "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
      ),
      "unable to verify the first certificate",
    ],
    [failed("connect ECONNREFUSED", "ECONNREFUSED"), undefined],
    [new Error("certificate has expired"), undefined],
  ])("certificateProblem() of %o is %j", (error, why) => {
    expect(certificateProblem(error)).toBe(why);
  });
});
