import { type Fixtures, runConformance } from "@cloudwire/conformance";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { TestHost } from "../conformance/host.ts";
import { startIn } from "../conformance/openstack-subject.ts";
import type { Started } from "../conformance/subject.ts";
import { Sidecar } from "./support/sidecar.ts";

/** Octavia makes a load balancer in many steps, and the kit makes hundreds. */
const TEST_MS = 3_600_000;
/** How fast the services are is not measured here. */
const SLOW_FACTOR = 10;

const started = new AsyncDisposableStack();
let subject: Started;

beforeAll(async () => {
  const host = started.use(await TestHost.create());
  subject = await startIn(inject("openstack"), host);
});
afterAll(() => started.disposeAsync());

describe("the conformance kit", () => {
  test(
    "finds that the provider for OpenStack keeps the contract, and leaves nothing in the project",
    async () => {
      await using sidecar = await Sidecar.start({ env: subject.env ?? {} });
      const fixtures: Fixtures = JSON.parse(subject.config);
      const left: string[] = ["it was not cleaned up"];
      const report = await runConformance({
        endpoint: sidecar.endpoint,
        fixtures,
        level: "M",
        slowFactor: SLOW_FACTOR,
        onCleanUp: (outcome) => left.splice(0, 1, ...outcome.left),
      });
      const fine = new Set(["pass", "skip", "advisory"]);
      const failed = report.results.filter(({ verdict }) => !fine.has(verdict.kind));
      expect(failed.map(({ id, verdict }) => [id, JSON.stringify(verdict)])).toEqual([]);
      expect(left).toEqual([]);
    },
    TEST_MS,
  );
});
