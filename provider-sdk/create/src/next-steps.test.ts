import { describe, expect, it } from "vitest";
import { nextSteps } from "./next-steps.ts";

const choices = { name: "a", domain: "a.example.com", idPrefix: "a", dir: "../a", sdk: undefined } as const;

describe("nextSteps()", () => {
  it.each([
    ["v20.12.0", "here it is v20.12.0"],
    ["v24.20.9", "here it is v24.20.9"],
  ])("says on Node %s that the project needs a newer one", (version, wanted) => {
    expect(nextSteps({ ...choices, language: "typescript" }, version)).toContain(wanted);
    expect(nextSteps({ ...choices, language: "go" }, version)).toContain("the conformance kit, has to run on Node 24");
  });

  it.each(["v24.21.0", "v25.0.0"])("says no word of Node %s", (version) => {
    expect(nextSteps({ ...choices, language: "python" }, version)).not.toContain("Node");
  });
});
