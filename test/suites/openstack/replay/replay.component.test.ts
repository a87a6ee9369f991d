import { describe, expect, test } from "vitest";
import { readRecording } from "./recordings.ts";
import { scenarios } from "./scenarios/all.ts";
import { replay } from "./stage.ts";

/** Seconds, for they wait between looks at what Octavia does; more on a busy machine. */
const timeout = 300_000;

// What the real services answered to the provider when `npm run test:openstack` recorded it, and that the provider asks the same today.
describe("the provider for OpenStack, with recordings of the real services", () => {
  test.concurrent.each(scenarios)("$name", { timeout }, async (scenario) => {
    expect(await replay(scenario, await readRecording(scenario))).toEqual([]);
  });
});
