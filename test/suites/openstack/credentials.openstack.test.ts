import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { createTenant } from "./support/real-openstack.ts";
import { Sidecar } from "./support/sidecar.ts";
import type { Server, Tenant } from "./support/tenant.ts";

/** Services ask Keystone about a token again after ten seconds. */
const REFUSED_MS = 120_000;
const ABSENT_SERVER = "00000000-0000-4000-8000-ffffffffffff";

let tenant: Tenant;
let server: Server;

beforeAll(async () => {
  tenant = await createTenant(inject("openstack"));
  server = await tenant.createServer("node-1");
});
afterAll(() => tenant.deleteServer(server.id));

/** Kinds of the answers about the server and about one that is not there; for errors their reasons. */
async function outcomes({ client }: Sidecar): Promise<readonly (string | undefined)[]> {
  const ids = [server.id, ABSENT_SERVER].map((id) => ({ name: "node-1", providerId: `openstack:///${id}` }));
  const { results } = await client.batchGetInstances({ nodes: ids });
  return results.map(({ outcome }) => (outcome?.$case === "unknown" ? outcome.value.reason : outcome?.$case));
}

describe("the provider with credentials of Keystone", () => {
  test("concludes nothing of machines once its application credential is deleted", async () => {
    const credential = await tenant.anotherCredential("to be deleted");
    await using sidecar = await Sidecar.start(tenant, {
      OS_APPLICATION_CREDENTIAL_ID: credential.id,
      OS_APPLICATION_CREDENTIAL_SECRET: credential.secret,
    });
    expect(await outcomes(sidecar)).toEqual(["instance", "absent"]);
    await tenant.deleteCredential(credential.id);
    const refused = await eventually("the token to be refused", REFUSED_MS, async () => {
      const asked = await outcomes(sidecar);
      return asked.includes("instance") ? undefined : asked;
    });
    expect(refused).toEqual(["CLOUD_CREDENTIALS_INVALID", "CLOUD_CREDENTIALS_INVALID"]);
  });
});
