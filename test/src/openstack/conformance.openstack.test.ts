import { writeFile } from "node:fs/promises";
import { type Fixtures, runConformance } from "@cloudwire/conformance";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { TestHost } from "../conformance/host.ts";
import { openStackSubject, startIn } from "../conformance/openstack-subject.ts";
import { filesOf, publishedOf } from "../conformance/published.ts";
import type { Started } from "../conformance/subject.ts";
import { Sidecar } from "./support/sidecar.ts";

/** Octavia makes a load balancer in many steps, and the kit makes hundreds. */
const TEST_MS = 3_600_000;
/** How fast the services are is not measured here. */
const SLOW_FACTOR = 10;

/** Written by each run: what changed shows before it is committed. */
const PUBLISHED = new URL("../../../docs/conformance/", import.meta.url);

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
        level: openStackSubject.level,
        knownFailing: Object.keys(openStackSubject.knownFailing),
        slowFactor: SLOW_FACTOR,
        onCleanUp: (outcome) => left.splice(0, 1, ...outcome.left),
      });
      for (const [name, text] of Object.entries(filesOf(publishedOf(report, openStackSubject), openStackSubject)))
        await writeFile(new URL(name, PUBLISHED), text);
      const fine = new Set(["pass", "skip", "advisory", "known-fail"]);
      const failed = report.results.filter(({ verdict }) => !fine.has(verdict.kind));
      expect(failed.map(({ id, verdict }) => [id, JSON.stringify(verdict)])).toEqual([]);
      expect(left).toEqual([]);
    },
    TEST_MS,
  );
});
