import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { baremetalSubject, startOn } from "../conformance/baremetal-subject.ts";
import { filesOf, publishedOf } from "../conformance/published.ts";
import { runKit } from "../conformance/run-kit.ts";
import { Site } from "./support/site.ts";

/** Longer than the longest run. */
const TEST_MS = 660_000;

let site: Site;
beforeAll(async () => {
  site = await Site.create();
});
afterAll(() => site[Symbol.asyncDispose]());

test(
  "the conformance kit finds the provider for bare metal as its published report says, and leaves nothing on the gateway",
  async () => {
    const { code, output, report } = await runKit({ ...baremetalSubject, start: async () => startOn(site) });
    expect({ code, output }).toEqual({ code: 0, output: expect.any(String) });
    expect(report.results.filter(({ result }) => result.kind === "fail" || result.kind === "error")).toEqual([]);
    const files = filesOf(publishedOf(report, baremetalSubject), baremetalSubject);
    for (const [name, text] of Object.entries(files)) {
      const committed = await readFile(new URL(`../../../docs/conformance/${name}`, import.meta.url), "utf8");
      expect({ [name]: committed }).toEqual({ [name]: text });
    }
    expect(await site.onGateway("nft", "list", "tables")).toBe("");
    expect(await site.onGateway("ip", "route", "show", "proto", "77")).toBe("");
    expect(await site.haproxyConfig()).not.toMatch(/frontend/);
  },
  TEST_MS,
);
