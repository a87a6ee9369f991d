import { expect, test } from "vitest";
import { whyUntrusted } from "./untrusted.ts";

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
])("whyUntrusted() of %o is %j", (error, why) => {
  expect(whyUntrusted(error)).toBe(why);
});
