import { writeFile } from "node:fs/promises";
import { describe, expect, inject, test } from "vitest";
import { openStackSubject, startIn } from "../conformance/openstack-subject.ts";
import { filesOf, publishedOf } from "../conformance/published.ts";
import { runKit } from "../conformance/run-kit.ts";
import { createTenant } from "./support/real-openstack.ts";

const TEST_MS = 3_900_000;

/** Written by each run: what changed shows before it is committed. */
const PUBLISHED = new URL("../../../docs/conformance/", import.meta.url);

describe("the conformance kit", () => {
  test(
    "finds that the provider for OpenStack keeps the contract, and leaves nothing in the project",
    async () => {
      const tenant = await createTenant(inject("openstack"));
      const { code, output, report } = await runKit({ ...openStackSubject, start: (host) => startIn(tenant, host) });
      const files = filesOf(publishedOf(report, openStackSubject), openStackSubject);
      for (const [name, text] of Object.entries(files)) await writeFile(new URL(name, PUBLISHED), text);
      expect({ code, output }).toEqual({ code: 0, output });
      // What the kit was given to ask for is the project's own.
      const own = (await tenant.floatingIps()).map((each) => `floating IP ${String(each["floating_ip_address"])}`);
      expect(await tenant.orphans()).toEqual(own);
      expect(own).toHaveLength(1);
    },
    TEST_MS,
  );
});
