import { readFile } from "node:fs/promises";
import { describe, expect, inject, test } from "vitest";
import { openStackSubject, startIn } from "../conformance/openstack-subject.ts";
import { filesOf, publishedOf } from "../conformance/published.ts";
import { runKit } from "../conformance/run-kit.ts";

/** Longer than the longest run. */
const TEST_MS = 600_000;

const committed = (name: string): Promise<string> =>
  readFile(new URL(`../../../docs/conformance/${name}`, import.meta.url), "utf8");

describe("the conformance kit", () => {
  test(
    "finds the provider for OpenStack as its published report says",
    async () => {
      const subject = { ...openStackSubject, start: startIn.bind(undefined, inject("openstack")) };
      const { code, output, report } = await runKit(subject);
      expect({ code, output }).toEqual({ code: 0, output: expect.any(String) });
      for (const [name, text] of Object.entries(filesOf(publishedOf(report, subject), subject)))
        expect({ [name]: await committed(name) }).toEqual({ [name]: text });
    },
    TEST_MS,
  );
});
