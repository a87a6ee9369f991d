import { describe, expect, test } from "vitest";
import { differences } from "./installed.mjs";

const locked = {
  "": { version: "0.1.0" },
  "node_modules/a": { version: "1.0.0" },
  "node_modules/@cloudwire/proto": { link: true },
  "node_modules/for-another-platform": { version: "1.0.0", optional: true },
};
const installed = { "node_modules/a": { version: "1.0.0" }, "node_modules/@cloudwire/proto": { link: true } };

describe("differences()", () => {
  test("finds none when all is installed but optional packages and npm's own entry", () => {
    expect(differences(locked, installed)).toEqual([]);
  });

  test.each([
    ["nothing is installed", {}, ["node_modules/a", "node_modules/@cloudwire/proto"]],
    ["a package has another version", { ...installed, "node_modules/a": { version: "1.0.1" } }, ["node_modules/a"]],
    [
      "a published package stands where a workspace belongs",
      { ...installed, "node_modules/@cloudwire/proto": { version: "0.1.0" } },
      ["node_modules/@cloudwire/proto"],
    ],
    [
      "an optional package has another version",
      { ...installed, "node_modules/for-another-platform": { version: "1.0.1" } },
      ["node_modules/for-another-platform"],
    ],
  ])("names the packages when %s", (_sentence, have, paths) => {
    expect(differences(locked, have)).toEqual(paths);
  });
});
